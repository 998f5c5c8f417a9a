// Deployments between two wishes: tokens a second for a user, and for a chip.
import * as Plot from '@observablehq/plot';
import type { ServeLayout } from '../engine/answers';
import { setParams } from '../state/route';
import { layoutText } from '../state/serving_question';
import { Chart, COLOURS } from './chart';
import { useFormats } from './format';

export function FrontChart(props: { front: ServeLayout[]; others: ServeLayout[]; chosen: ServeLayout }) {
  const all = [...props.others, ...props.front];
  const f = useFormats();
  const tip = (one: ServeLayout) =>
    `${layoutText(one)}, batch ${f.exact(one.batch)}\n${f.rate(one.tokens_per_s_per_user)} tokens/s a user, ${f.rate(one.tokens_per_s_per_chip)} a chip\nTTFT ${f.seconds(one.ttft_s)}, TPOT ${f.seconds(one.tpot_s)}, ${f.usd(one.usd_per_million_tokens)} a million tokens`;
  const choose = (one: ServeLayout) => {
    const at = props.front.indexOf(one);
    setParams({ layout: at >= 0 ? `front${at + 1}` : `best${props.others.indexOf(one) + 1}` });
  };
  const x = 'tokens_per_s_per_user';
  const y = 'tokens_per_s_per_chip';
  return (
    <Chart
      label={`${all.length} deployments between throughput of a chip and speed for a user`}
      height={360}
      state={props.chosen}
      choose={(one) => choose(one as ServeLayout)}
      twin={{
        heads: ['deployment', 'mode', 'batch', 'tokens/s a user', 'tokens/s a chip', 'first token', 'each token'],
        rows: () => all.map((one) => [layoutText(one), one.mode, f.exact(one.batch), f.rate(one.tokens_per_s_per_user), f.rate(one.tokens_per_s_per_chip), f.seconds(one.ttft_s), f.seconds(one.tpot_s)]),
      }}
      options={() => ({
        marginLeft: 60,
        marginBottom: 46,
        x: { label: 'tokens a second, for a user', labelOffset: 40, grid: true, zero: true },
        y: { label: 'tokens a second, of a chip', grid: true, zero: true },
        color: { legend: true, range: COLOURS },
        marks: [
          Plot.line(props.front, { x, y, stroke: 'currentColor', strokeOpacity: 0.25 }),
          Plot.dot(all, { x, y, fill: 'mode', r: 4, title: tip, tip: true }),
          Plot.dot([props.chosen], { x, y, stroke: 'currentColor', strokeWidth: 2, r: 8 }),
        ],
      })}
    />
  );
}
