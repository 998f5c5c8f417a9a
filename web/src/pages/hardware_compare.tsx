// Chips side by side: a row a fact, a column a chip.
import type { Chip, ChipsAnswer } from '../engine/answers';
import type { Formats } from '../parts/format';
import { useFormats } from '../parts/format';
import { Answered } from '../parts/notice';
import { useFact } from '../state/answer';

type Row = [string, (chip: Chip) => string];

function rowsOf(chips: Chip[], f: Formats): Row[] {
  const dtypes = [...new Set(chips.flatMap((chip) => Object.keys(chip.peak_flops_per_s)))];
  return [
    ['year', (chip) => String(chip.year)],
    ...dtypes.map((dtype): Row => [`peak, ${dtype}`, (chip) => f.unit(chip.peak_flops_per_s[dtype], 'FLOP/s')]),
    ['memory', (chip) => f.unit(chip.hbm_bytes, 'B')],
    ['memory bandwidth', (chip) => f.unit(chip.hbm_bytes_per_s, 'B/s')],
    ...dtypes.map((dtype): Row => [`ridge point, ${dtype}`, (chip) => f.rate(chip.ridge_flops_per_byte[dtype])]),
    ['vector rate', (chip) => f.unit(chip.vector_flops_per_s, 'FLOP/s')],
    ['power', (chip) => f.unit(chip.power_watts, 'W')],
    ['dollars per hour', (chip) => f.usd(chip.usd_per_hour)],
    ['system', (chip) => chip.network?.system ?? '–'],
  ];
}

function Networks(props: { chip: Chip; f: Formats }) {
  const { f } = props;
  return (
    <ul class="plain">
      {props.chip.network?.levels.map((level) => (
        <li key={level.name}>
          {level.name} ({level.kind}): {f.unit(level.bytes_per_s, 'B/s')}, {f.seconds(level.latency_s)}
          {level.bf16_flops_per_byte ? `, ridge ${f.rate(level.bf16_flops_per_byte)}` : ''}
        </li>
      ))}
    </ul>
  );
}

function Sources(props: { chip: Chip }) {
  return (
    <details>
      <summary>{props.chip.name}: where its numbers come from</summary>
      <ul>
        {props.chip.facts?.map((fact) => (
          <li key={fact.key}>
            <code>{fact.key}</code>: {fact.source}, {fact.date}
            {fact.note ? ` (${fact.note})` : ''}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function HardwareCompare(props: { chips: string[] }) {
  const f = useFormats();
  const answer = useFact<ChipsAnswer>(['chips', ...props.chips, '--json']);
  return (
    <section>
      <h2>Side by side</h2>
      <Answered answer={answer}>
        {({ chips }) => (
          <>
            <div class="table-frame compare" tabIndex={0} role="region" aria-label="Chips side by side">
              <table>
                <caption class="unseen">Chips side by side</caption>
                <thead>
                  <tr>
                    <th scope="col" class="text">fact</th>
                    {chips.map((chip) => <th key={chip.name} scope="col">{chip.full_name}</th>)}
                  </tr>
                </thead>
                <tbody>
                  {rowsOf(chips, f).map(([name, text]) => (
                    <tr key={name}>
                      <th scope="row" class="text">{name}</th>
                      {chips.map((chip) => <td key={chip.name}>{text(chip)}</td>)}
                    </tr>
                  ))}
                  <tr>
                    <th scope="row" class="text">network, per chip and direction</th>
                    {chips.map((chip) => <td key={chip.name}><Networks chip={chip} f={f} /></td>)}
                  </tr>
                </tbody>
              </table>
            </div>
            {chips.map((chip) => <Sources key={chip.name} chip={chip} />)}
          </>
        )}
      </Answered>
    </section>
  );
}
