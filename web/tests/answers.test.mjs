// The page's library says what the program says: the committed outputs of tests/golden,
// byte for byte. Left out: lines for a shell, folders, verbs that run programs, and XML,
// which the page's library is built without.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { before, test } from 'node:test';
import { ask, lend, openLibrary, ROOT } from './library.mjs';

const GOLDEN = resolve(ROOT, 'tests/golden');
const FOR_A_SHELL = /[|&;<>`$\\\n]|--run|--data|--html|--timeline|--plan |--svg|--operations| -o|NO_COLOR|\/dev\//;
const NOT_HERE = new Set(['run', 'calibrate', 'ui', 'help', '--help']);

/** Words of a line without expansions: quotes group, nothing else is special. */
function wordsOf(line) {
  const words = line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, (_, one, two) => one ?? two));
}

function read(folder, name, absent) {
  const path = resolve(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : absent;
}

/** How long a search took may differ; the masks are those of tools/program.py. */
function masked(text) {
  return text
    .replace(/(\b(?:in|took) )[\d.,]+ ?(?:us|ms|s|min)\b/g, '$1<time>')
    .replace(/[\d.,]+ ?[kM]? ?layouts(?:\/s| a second| per second)/g, '<rate> layouts/s')
    .replace(/("(?:seconds|wall_s|measured_s)": )[-\d.e+]+/g, '$1<time>');
}

function cases() {
  return readdirSync(GOLDEN, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .flatMap((verb) => readdirSync(resolve(GOLDEN, verb)).map((name) => `${verb}/${name}`))
    .filter((name) => existsSync(resolve(GOLDEN, name, 'cmd')))
    .map((name) => ({ name, folder: resolve(GOLDEN, name), cmd: read(resolve(GOLDEN, name), 'cmd', '').trim() }))
    .filter(({ cmd }) => cmd.startsWith('ridge ') && !FOR_A_SHELL.test(cmd))
    .map((one) => ({ ...one, words: wordsOf(one.cmd).slice(1) }))
    .filter(({ words }) => !NOT_HERE.has(words[0]) && !words.includes('--help'))
    .filter(({ words }) => words.every((word) => !word.endsWith('.xml')))
    .filter(({ words }) => words.every((word) => !existsSync(resolve(ROOT, word)) || statSync(resolve(ROOT, word)).isFile()));
}

let at;
before(async () => {
  at = await openLibrary();
});

for (const { name, folder, words } of cases()) {
  test(name, () => {
    const files = words.flatMap((word) => word.replace(/^[a-z-]+=/, '').split('@'));
    for (const file of files) if (file.includes('/') || file.includes('.')) lend(at, file);
    const said = ask(at, words);
    assert.equal(masked(said.err), masked(read(folder, 'err', '')));
    assert.equal(masked(said.out), masked(read(folder, 'out', '')));
    assert.equal(said.code, Number(read(folder, 'code', '0')));
  });
}
