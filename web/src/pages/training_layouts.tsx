// The layouts found, best first, as a table to sort and choose from.
import type { TrainAnswer } from '../engine/answers';
import { useFormats } from '../parts/format';
import { Table } from '../parts/table';
import { setParams } from '../state/route';
import { meshText } from '../state/training_knobs';

export function TrainingLayouts(props: { answer: TrainAnswer; at: number }) {
  const f = useFormats();
  const rows = props.answer.layouts.map((layout, i) => ({ ...layout, i }));
  return (
    <Table
      caption="Layouts, best first: choose one"
      sortParam="by"
      rows={rows}
      rowKey={(row) => String(row.i)}
      isChosen={(row) => row.i === props.at}
      columns={[
        {
          key: 'mesh', head: 'mesh', isText: true, sort: (row) => row.i,
          cell: (row) => (
            <label class="check">
              <input type="radio" name="layout" checked={row.i === props.at} onChange={() => setParams({ layout: String(row.i + 1) })} /> {meshText(row)}
            </label>
          ),
        },
        { key: 'step', head: 'step', cell: (row) => f.seconds(row.step_time_s), sort: (row) => row.step_time_s },
        { key: 'limit', head: 'limit', cell: (row) => f.seconds(row.bound_step_time_s), sort: (row) => row.bound_step_time_s },
        { key: 'mfu', head: 'MFU', cell: (row) => f.percent(row.mfu), sort: (row) => row.mfu },
        { key: 'rate', head: 'tokens/s a chip', cell: (row) => f.rate(row.tokens_per_s_per_chip), sort: (row) => row.tokens_per_s_per_chip },
        { key: 'memory', head: 'memory', cell: (row) => f.bytes(row.peak_memory_bytes), sort: (row) => row.peak_memory_bytes },
        { key: 'zero', head: 'ZeRO', cell: (row) => row.zero_stage, sort: (row) => row.zero_stage },
        { key: 'microbatch', head: 'microbatch', cell: (row) => row.microbatch_seqs, sort: (row) => row.microbatch_seqs },
        { key: 'remat', head: 'remat', isText: true, cell: (row) => row.remat, sort: (row) => row.remat },
        { key: 'schedule', head: 'schedule', isText: true, cell: (row) => (row.mesh.pp > 1 ? row.schedule : '–'), sort: (row) => row.schedule },
        { key: 'bottleneck', head: 'held back by', isText: true, cell: (row) => row.bottleneck, sort: (row) => row.bottleneck },
      ]}
    />
  );
}
