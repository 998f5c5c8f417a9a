// One deployment: its numbers, where latency and memory go, its plan.
import type { ServeLayout } from '../engine/answers';
import { BarStack } from '../parts/bar_stack';
import { Explained } from '../parts/explained';
import type { Formats } from '../parts/format';
import { useFormats } from '../parts/format';
import { Facts } from '../parts/notice';
import { layoutText } from '../state/serving_question';

/** What the page's time to the first token is made of before its iterations. */
const BEFORE = /^(request|queue|iteration|transfer)$/;

function partsOf(parts: Record<string, number>, text: (value: number) => string, unit: RegExp, whole: string) {
  return Object.entries(parts).map(([key, value]) => {
    const name = key.replace(unit, '');
    const isOwn = whole !== 'memory' && !BEFORE.test(name);
    return { name: name.replace(/_/g, ' '), value, text: text(value), quantity: isOwn ? name : whole };
  });
}

/** Of a chip that decodes; what is no part of the sum is left out. */
function memoryParts(memory: Record<string, number>, f: Formats) {
  const parts = Object.fromEntries(Object.entries(memory).filter(([key]) => /^(weights|activations|reserve|draft|cache)_bytes$/.test(key)));
  return partsOf(parts, f.bytes, /_bytes$/, 'memory');
}

export function ServingLayout(props: { layout: ServeLayout; title: string }) {
  const f = useFormats();
  const { layout } = props;
  return (
    <section aria-label="The chosen deployment">
      <h2>
        {props.title}: {layoutText(layout)}
      </h2>
      <p class="quiet">
        {layout.mode}; {f.exact(layout.concurrency)} requests at once, cache {f.percent(layout.cache_use)} used; held back by {layout.bottleneck}
        {layout.why_not ? `; ${layout.why_not}` : ''}
      </p>
      <Facts
        facts={[
          { name: 'First token', value: <Explained quantity="ttft">{f.seconds(layout.ttft_s)}</Explained>, note: `limit ${f.seconds(layout.bound_ttft_s)}` },
          { name: 'Each token', value: <Explained quantity="tpot">{f.seconds(layout.tpot_s)}</Explained>, note: `limit ${f.seconds(layout.bound_tpot_s)}; ${f.rate(layout.tokens_per_s_per_user)} a second` },
          { name: 'Tokens a second of a chip', value: <Explained quantity="throughput">{f.rate(layout.tokens_per_s_per_chip)}</Explained>, note: `limit ${f.rate(layout.bound_tokens_per_s_per_chip)}` },
          { name: 'Requests a second', value: <Explained quantity="throughput">{f.rate(layout.requests_per_s)}</Explained>, note: `${f.exact(layout.chips)} chips, batch ${f.exact(layout.batch)}` },
          { name: 'A million tokens', value: <Explained quantity="usd">{f.usd(layout.usd_per_million_tokens)}</Explained> },
          { name: 'Whole answer', value: <Explained quantity="e2e">{f.seconds(layout.e2e_s)}</Explained> },
        ]}
      />
      <h3>Where the time of a token goes</h3>
      <BarStack label="Time of a token" parts={partsOf(layout.breakdown.tpot, f.seconds, /_s$/, 'tpot')} />
      <h3>Where the time to the first token goes</h3>
      <BarStack label="Time to the first token" parts={partsOf(layout.breakdown.ttft, f.seconds, /_s$/, 'ttft')} />
      <h3>Memory of a chip{layout.pools.length > 1 ? `, ${layout.pools[layout.pools.length - 1]?.role ?? ''}` : ''}</h3>
      <BarStack label="Memory of a chip" parts={memoryParts(layout.memory, f)} />
    </section>
  );
}
