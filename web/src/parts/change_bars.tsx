// Changes to the left and to the right of nothing: what makes a step shorter or longer.
import { useFormats } from './format';

export function ChangeBars(props: { caption: string; changes: { change: string; step_change: number }[] }) {
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
              <span class={one.step_change > 0 ? 'more' : 'less'} style={{ width: `${(50 * Math.abs(one.step_change)) / most}%` }} />
            </td>
            <td>{text(one.step_change)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
