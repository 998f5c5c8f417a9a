// Files in the address: name~packed, deflated and in base64. What is too large for an
// address is kept for this visit alone, and the address holds its name.
import { useEffect, useState } from 'preact/hooks';
import type { LineFile } from '../engine/wire';

const PACKED_MOST_CHARS = 16000;
const kept = new Map<string, Uint8Array>();

async function through(bytes: Uint8Array, stream: GenericTransformStream): Promise<Uint8Array> {
  const body = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body as ReadableStream).arrayBuffer());
}

function toBase64(bytes: Uint8Array): string {
  const text = Array.from(bytes, (b) => String.fromCharCode(b)).join('');
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
}

/** A name that is a word of a command line: its folder and odd characters are left out. */
function plainName(name: string): string {
  return name.replace(/^.*[/\\]/, '').replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[-.]+/, '') || 'file';
}

/** @return the parameter that stands for the file */
export async function packFile(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const name = plainName(file.name);
  kept.set(name, bytes);
  const packed = toBase64(await through(bytes, new CompressionStream('deflate-raw')));
  return packed.length <= PACKED_MOST_CHARS ? `${name}~${packed}` : `${name}~`;
}

export function isPacked(param: string): boolean {
  return param.includes('~');
}

export function packedName(param: string): string {
  return param.split('~', 1)[0] ?? param;
}

async function unpack(param: string): Promise<LineFile> {
  const path = packedName(param);
  const packed = param.slice(path.length + 1);
  const bytes = packed ? await through(fromBase64(packed), new DecompressionStream('deflate-raw')) : kept.get(path);
  if (!bytes) throw new Error(`${path} is not in the address: drop the file again`);
  return { path, bytes };
}

export interface UnpackedFile {
  file?: LineFile;
  error?: string;
}

/** The file of a parameter; neither file nor error: it is being unpacked, or is none. */
export function useFile(param: string | undefined): UnpackedFile {
  const [found, setFound] = useState<UnpackedFile & { param?: string }>({});
  useEffect(() => {
    let isCurrent = true;
    const settle = (result: UnpackedFile) => {
      if (isCurrent) setFound({ ...result, ...(param === undefined ? {} : { param }) });
    };
    if (param && isPacked(param)) {
      unpack(param).then(
        (file) => settle({ file }),
        (fault: unknown) => settle({ error: fault instanceof Error ? fault.message : String(fault) }),
      );
    } else settle({});
    return () => {
      isCurrent = false;
    };
  }, [param]);
  return found.param === param ? found : {};
}
