// One deployment: its numbers, where latency and memory go, its plan.
import type { ServeLayout } from '../engine/answers';
import { BarStack } from '../parts/bar_stack';
import type { Formats } from '../parts/format';
import { useFormats } from '../parts/format';
import { Facts } from '../parts/notice';
import { layoutText } from '../state/serving_question';

function partsOf(parts: Record<string, number>, text: (value: number) => string, unit: RegExp) {
  return Object.entries(parts).map(([key, value]) => ({ name: key.replace(unit, '').replace(/_/g, ' '), value, text: text(value) }));
}

/** Of a chip of each pool; what is no part of the sum is left out. */
function memoryParts(memory: Record<string, number>, f: Formats) {
  const parts = Object.fromEntries(Object.entries(memory).filter(([key]) => /^(weights|activations|reserve|draft|cache)_bytes$/.test(key)));
  return partsOf(parts, f.bytes, /_bytes$/);
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
          { name: 'First token', value: f.seconds(layout.ttft_s), note: `limit ${f.seconds(layout.bound_ttft_s)}` },
          { name: 'Each token', value: f.seconds(layout.tpot_s), note: `limit ${f.seconds(layout.bound_tpot_s)}; ${f.double(layout.tokens_per_s_per_user)} a second` },
          { name: 'Tokens a second of a chip', value: f.double(layout.tokens_per_s_per_chip), note: `limit ${f.double(layout.bound_tokens_per_s_per_chip)}` },
          { name: 'Requests a second', value: f.double(layout.requests_per_s), note: `${f.exact(layout.chips)} chips, batch ${f.exact(layout.batch)}` },
          { name: 'A million tokens', value: f.usd(layout.usd_per_million_tokens) },
          { name: 'Whole answer', value: f.seconds(layout.e2e_s) },
        ]}
      />
      <h3>Where the time of a token goes</h3>
      <BarStack label="Time of a token" parts={partsOf(layout.breakdown.tpot, f.seconds, /_s$/)} />
      <h3>Where the time to the first token goes</h3>
      <BarStack label="Time to the first token" parts={partsOf(layout.breakdown.ttft, f.seconds, /_s$/)} />
      {layout.memory.map((memory, i) => (
        <div key={i}>
          <h3>Memory of a chip{layout.pools[i] ? `, ${layout.pools[i].role}` : ''}</h3>
          <BarStack label="Memory of a chip" parts={memoryParts(memory, f)} />
        </div>
      ))}
    </section>
  );
}
