// A file of the page for the person's disk.
import type { LineFile } from '../engine/wire';

export function Download(props: { file: LineFile | undefined; name: string; label: string }) {
  const { file } = props;
  const save = () => {
    if (!file) return;
    const url = URL.createObjectURL(new Blob([file.bytes as BlobPart], { type: 'application/json' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = props.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  return (
    <button type="button" disabled={!file} onClick={save}>
      {props.label}
    </button>
  );
}
