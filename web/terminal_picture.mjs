// A picture of what the program prints on a terminal: its colours, its charts.
import { execFileSync } from 'node:child_process';

/** Colours of a terminal's palette, on a dark ground. */
const PALETTE = ['#3b4252', '#ff7b72', '#56d364', '#e3b341', '#6cb6ff', '#d2a8ff', '#56d4dd', '#e6edf3'];

/** What the program prints when a terminal of so many columns is asked of it. */
export function printed(ridge, words, columns) {
  const line = [ridge, ...words].map((word) => `'${word}'`).join(' ');
  const out = execFileSync('script', ['-qec', `stty cols ${columns}; ${line}`, '/dev/null'], { encoding: 'utf8' });
  return out.replace(/\r/g, '').trimEnd();
}

/** "1;34" as declarations of CSS. */
function styleOf(codes) {
  const words = codes.split(';').map(Number);
  return words.flatMap((code, i) => {
    if (code === 1) return ['font-weight:700'];
    if (code === 2) return ['opacity:.65'];
    if (code === 38 && words[i + 1] === 2) return [`color:rgb(${words.slice(i + 2, i + 5).join(',')})`];
    if (words[i - 1] === 38 || words[i - 2] === 38) return [];
    if (code >= 30 && code <= 37) return [`color:${PALETTE[code - 30]}`];
    if (code >= 90 && code <= 97) return [`color:${PALETTE[code - 90]}`];
    return [];
  }).join(';');
}

function escaped(text) {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

/** A character of another font still takes one cell. */
function inCells(text) {
  return Array.from(text, (char) => (char > '~' ? `<i>${char}</i>` : escaped(char))).join('');
}

/** The terminal as a page. @param title  the line that was typed */
export function terminalPage(title, text) {
  // eslint-disable-next-line no-control-regex
  const parts = text.split(/\x1b\[([\d;]*)m/);
  const body = parts.map((part, i) => (i % 2 ? `</span><span style="${styleOf(part)}">` : inCells(part))).join('');
  return `<!DOCTYPE html><meta charset="utf-8"><style>
body{margin:0;background:#0d1117;color:#e6edf3}
main{display:inline-block;padding:18px 22px}
pre{margin:0;font:14px/1.164 "DejaVu Sans Mono",monospace}
i{display:inline-block;width:1ch;font-style:normal;overflow:visible;white-space:nowrap}
b{color:#56d364}</style><main><pre><b>$</b> ${escaped(title)}\n\n<span>${body}</span></pre></main>`;
}
