// The model of a page: a name of the catalogue, or a file in the address.
import type { LineFile } from '../engine/wire';
import { isPacked, packedName, useFile } from './packed_file';

export const USUAL_MODEL = 'llama-3-70b';

export interface ModelChoice {
  /** as the verbs take it; nothing while a file is unpacked */
  word?: string | undefined;
  files: LineFile[];
  error?: string | undefined;
}

export function useModel(param: string | undefined): ModelChoice {
  const name = param ?? USUAL_MODEL;
  const { file, error } = useFile(name);
  if (!isPacked(name)) return { word: name, files: [] };
  return { word: file && packedName(name), files: file ? [file] : [], error };
}
