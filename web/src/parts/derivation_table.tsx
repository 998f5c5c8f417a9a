// A derivation: each quantity, what it is made of, with the numbers in it.
import type { ExplainAnswer } from '../engine/answers';

export function DerivationTable(props: { answer: ExplainAnswer }) {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label="Derivation">
      <table>
        <caption class="unseen">{props.answer.title}</caption>
        <thead>
          <tr>
            <th scope="col" class="text">quantity</th>
            <th scope="col">value</th>
            <th scope="col" class="text">how</th>
            <th scope="col" class="text">with numbers</th>
          </tr>
        </thead>
        <tbody>
          {props.answer.derivation.map((row, i) => (
            <tr key={i}>
              <th scope="row" class="text" style={{ paddingLeft: `${0.6 + 1.1 * row.depth}rem` }}>{row.name}</th>
              <td>{row.result}</td>
              <td class="text">{row.formula}</td>
              <td class="text">{row.values}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
