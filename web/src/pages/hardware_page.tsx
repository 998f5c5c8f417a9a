// Hardware: chips side by side.
import type { Chip, ChipsAnswer } from '../engine/answers';
import { HardwareCompare } from './hardware_compare';
import { HardwareRoofline } from './hardware_roofline';
import { useFormats } from '../parts/format';
import { Answered, SameLine } from '../parts/notice';
import { Table } from '../parts/table';
import { useFact } from '../state/answer';
import type { Route } from '../state/route';
import { setParams } from '../state/route';

const CHIPS_MOST = 6;

function chosenChips(params: Readonly<Record<string, string>>): string[] {
  return (params['chips'] ?? 'h100,v5p').split(',').filter(Boolean);
}

export function HardwarePage(props: { route: Route }) {
  const f = useFormats();
  const chosen = chosenChips(props.route.params);
  const listed = useFact<ChipsAnswer>(['chips', '--json']);
  const toggle = (chip: Chip) => {
    const next = chosen.includes(chip.name) ? chosen.filter((name) => name !== chip.name) : [...chosen, chip.name].slice(-CHIPS_MOST);
    setParams({ chips: next.join(',') });
  };
  return (
    <>
      <h1>Hardware</h1>
      <p class="lead">Chips and their peaks, dense. A ridge point is the FLOPs per byte above which the chip, not its memory, is the limit.</p>
      {chosen.length > 0 && (
        <>
          <SameLine words={['chips', ...chosen]} />
          <HardwareCompare chips={chosen} />
          <HardwareRoofline route={props.route} chips={chosen} />
        </>
      )}
      <h2>All chips</h2>
      <Answered answer={listed}>
        {({ chips }) => (
          <Table
            caption={`${chips.length} chips: choose up to ${CHIPS_MOST} to compare`}
            rows={chips}
            rowKey={(chip) => chip.name}
            isChosen={(chip) => chosen.includes(chip.name)}
            columns={[
              {
                key: 'name', head: 'chip', isText: true, sort: (chip) => chip.name,
                cell: (chip) => (
                  <label class="check">
                    <input type="checkbox" checked={chosen.includes(chip.name)} onChange={() => toggle(chip)} /> {chip.name}
                  </label>
                ),
              },
              { key: 'full', head: 'full name', isText: true, cell: (chip) => chip.full_name, sort: (chip) => chip.full_name },
              { key: 'bf16', head: 'bf16', cell: (chip) => f.unit(chip.peak_flops_per_s['bf16'], 'FLOP/s'), sort: (chip) => chip.peak_flops_per_s['bf16'] },
              { key: 'fp8', head: 'fp8', cell: (chip) => f.unit(chip.peak_flops_per_s['fp8'], 'FLOP/s'), sort: (chip) => chip.peak_flops_per_s['fp8'] },
              { key: 'hbm', head: 'memory', cell: (chip) => f.unit(chip.hbm_bytes, 'B'), sort: (chip) => chip.hbm_bytes },
              { key: 'bandwidth', head: 'bandwidth', cell: (chip) => f.unit(chip.hbm_bytes_per_s, 'B/s'), sort: (chip) => chip.hbm_bytes_per_s },
              { key: 'ridge', head: 'ridge, bf16', cell: (chip) => f.rate(chip.ridge_flops_per_byte['bf16']), sort: (chip) => chip.ridge_flops_per_byte['bf16'] },
              { key: 'power', head: 'power', cell: (chip) => f.unit(chip.power_watts, 'W'), sort: (chip) => chip.power_watts },
              { key: 'price', head: '$ per hour', cell: (chip) => f.usd(chip.usd_per_hour), sort: (chip) => chip.usd_per_hour },
            ]}
          />
        )}
      </Answered>
    </>
  );
}
