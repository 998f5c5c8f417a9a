// Arrays cut on a mesh: each is a rectangle whose parts lie on chips; the part that the
// chosen chip holds is filled.
import type { ShardArray } from '../engine/answers';

type Mesh = Readonly<Record<string, number>>;
/** a chip: its place on each axis */
export type Place = Readonly<Record<string, number>>;

/** More parts than this along a side are drawn as this many. */
const PARTS_DRAWN_MOST = 32;
const LEAST_SIDE = 56;
const MOST_SIDE = 150;

function waysOf(axes: string[], mesh: Mesh): number {
  return axes.reduce((ways, axis) => ways * (mesh[axis] ?? 1), 1);
}

/** Which part of a dim a chip holds: its axes are digits, the outermost first. */
function partOf(axes: string[], mesh: Mesh, place: Place): number {
  return axes.reduce((part, axis) => part * (mesh[axis] ?? 1) + (place[axis] ?? 0), 0);
}

/** Sides stand for sizes on a logarithmic scale: a thousand beside a million can be seen. */
function sideOf(size: number, largest: number): number {
  if (largest <= 1) return LEAST_SIDE;
  return LEAST_SIDE + (MOST_SIDE - LEAST_SIDE) * (Math.log2(Math.max(size, 1)) / Math.log2(largest));
}

interface Side {
  name: string;
  length: number;
  ways: number;
  part: number;
}

/** Rows are the dims before the last one: a matrix's first, a tensor's folded. */
function sidesOf(array: ShardArray, mesh: Mesh, place: Place, largest: number): [Side, Side] {
  const side = (dims: ShardArray['dims']): Side => ({
    name: dims.map((dim) => `${dim.name}${dim.axes.length ? `@${dim.axes.join('+')}` : ''}`).join(', ') || '1',
    length: sideOf(dims.reduce((size, dim) => Math.max(size, dim.size), 1), largest),
    ways: dims.reduce((ways, dim) => ways * waysOf(dim.axes, mesh), 1),
    part: dims.reduce((part, dim) => part * waysOf(dim.axes, mesh) + partOf(dim.axes, mesh, place), 0),
  });
  return [side(array.dims.slice(0, -1)), side(array.dims.slice(-1))];
}

function Cuts(props: { side: Side; isRow: boolean; other: number }) {
  const { side } = props;
  const drawn = Math.min(side.ways, PARTS_DRAWN_MOST);
  const lines = Array.from({ length: drawn - 1 }, (_, i) => ((i + 1) * side.length) / drawn);
  return (
    <>
      {lines.map((at) =>
        props.isRow ? <line key={at} x1={0} x2={props.other} y1={at} y2={at} /> : <line key={at} y1={0} y2={props.other} x1={at} x2={at} />,
      )}
    </>
  );
}

function notation(array: ShardArray): string {
  const dims = array.dims.map((dim) => `${dim.name}${dim.axes.length ? `@${dim.axes.join('+')}` : ''}`).join(', ');
  return `${array.name}[${dims}]${array.partial.length ? ` {U@${array.partial.join('+')}}` : ''}`;
}

export function ArrayDrawing(props: { array: ShardArray; mesh: Mesh; place: Place; largest: number }) {
  const { array } = props;
  const [row, column] = sidesOf(array, props.mesh, props.place, props.largest);
  const held = array.dims.map((dim) => `${dim.name} ${dim.local}`).join(', ');
  const label = `${notation(array)}: cut in ${row.ways} by ${column.ways} parts; a chip holds ${held}`;
  return (
    <figure class="array">
      <svg role="img" aria-label={label} width={column.length + 2} height={row.length + 2} viewBox={`-1 -1 ${column.length + 2} ${row.length + 2}`}>
        <rect class="whole" width={column.length} height={row.length} />
        <rect class="held" x={(column.part * column.length) / column.ways} y={(row.part * row.length) / row.ways} width={column.length / column.ways} height={row.length / row.ways} />
        <g class="cuts">
          <Cuts side={row} isRow other={column.length} />
          <Cuts side={column} isRow={false} other={row.length} />
        </g>
      </svg>
      <figcaption>
        <code>{notation(array)}</code>
        <small>a chip holds {held}{array.partial.length ? '; partial sums' : ''}</small>
      </figcaption>
    </figure>
  );
}
