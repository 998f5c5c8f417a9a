// A layout as knobs of `ridge train`: what an answer said, asked again.
import type { TrainLayout } from '../engine/answers';

function word(name: string, value: string | number | boolean | null): string[] {
  return value === null ? [] : [`${name}=${typeof value === 'boolean' ? Number(value) : value}`];
}

/** All choices but the degrees; the schedule only where there is a pipeline. */
function choicesOf(layout: TrainLayout): string[] {
  const hasPipeline = layout.mesh.pp > 1;
  return [
    ...word('zero', layout.zero_stage),
    ...word('sp', layout.sp),
    ...word('microbatch', layout.microbatch_seqs),
    ...word('remat', layout.remat),
    ...word('remat_layers', layout.remat_layers),
    ...word('cp_exchange', layout.cp_exchange),
    ...word('offload', layout.offload),
    ...word('optimizer', layout.optimizer),
    ...word('tp_overlap', layout.tp_overlap),
    ...word('fsdp_overlap', layout.fsdp_overlap),
    ...word('dp_overlap', layout.dp_overlap),
    ...word('pp_overlap', layout.pp_overlap),
    ...word('ep_overlap', layout.ep_overlap),
    ...(hasPipeline ? [...word('schedule', layout.schedule), ...word('vpp', layout.vpp)] : []),
    ...(hasPipeline ? [...word('first_layers', layout.first_layers), ...word('last_layers', layout.last_layers)] : []),
  ];
}

function degreesOf(layout: TrainLayout, names: (keyof TrainLayout['mesh'])[]): string[] {
  return names.map((name) => `${name}=${layout.mesh[name]}`);
}

/** Everything fixed: this layout alone. */
export function allKnobs(layout: TrainLayout): string[] {
  return [...degreesOf(layout, ['dp', 'fsdp', 'tp', 'cp', 'pp', 'ep']), ...choicesOf(layout)];
}

/** What is kept while a slider moves: a layout like this one, for as many chips as there
 *  are. The microbatch and what is computed again may change, so that it fits. */
export function likeKnobs(layout: TrainLayout): string[] {
  const free = /^(microbatch|remat|remat_layers|first_layers|last_layers)=/;
  return [...degreesOf(layout, ['tp', 'cp', 'pp', 'ep']), ...choicesOf(layout).filter((knob) => !free.test(knob))];
}

/** "fsdp 64 · tp 2" */
export function meshText(layout: TrainLayout): string {
  const degrees = Object.entries(layout.mesh).filter(([, ways]) => ways > 1);
  return degrees.map(([axis, ways]) => `${axis} ${ways}`).join(' · ') || 'one chip';
}
