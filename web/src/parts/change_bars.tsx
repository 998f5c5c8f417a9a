// Changes to the left and to the right of nothing: what makes a step shorter or longer.
import { useFormats } from './format';

export interface Change {
  change: string;
  /** as a fraction of what it was */
  step_change: number;
}

/** @param isMoreBetter  of a rate; otherwise, of a time, less is */
export function ChangeBars(props: { caption: string; changes: Change[]; isMoreBetter?: boolean }) {
  const isGood = (change: number) => change > 0 === Boolean(props.isMoreBetter);
  const f = useFormats();
  const most = Math.max(...props.changes.map((one) => Math.abs(one.step_change)), 1e-9);
  const text = (change: number) => `${change > 0 ? '+' : ''}${f.percent(change)}`;
  return (
    <table class="changes">
      <caption>{props.caption}</caption>
      <tbody>
        {props.changes.map((one) => (
          <tr key={one.change}>
            <th scope="row" class="text">{one.change}</th>
            <td class="track" aria-hidden="true">
              <span class={`${one.step_change > 0 ? 'more' : 'less'} ${isGood(one.step_change) ? 'good' : 'bad'}`} style={{ width: `${(50 * Math.abs(one.step_change)) / most}%` }} />
            </td>
            <td>{text(one.step_change)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
