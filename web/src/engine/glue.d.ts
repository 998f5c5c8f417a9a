/** What Emscripten's script gives: the parts of it that are used. */
declare module 'ridge-wasm' {
  export interface MemoryFiles {
    writeFile(path: string, data: Uint8Array | string): void;
    readFile(path: string): Uint8Array;
    unlink(path: string): void;
    mkdir(path: string): void;
    chdir(path: string): void;
    analyzePath(path: string): { exists: boolean };
  }
  export interface Glue {
    FS: MemoryFiles;
    UTF8ToString(at: number): string;
    stringToUTF8(text: string, at: number, most: number): void;
    lengthBytesUTF8(text: string): number;
    _malloc(bytes: number): number;
    _free(at: number): void;
    _bridge_ask(request: number): number;
    _bridge_code(reply: number): number;
    _bridge_out(reply: number): number;
    _bridge_err(reply: number): number;
    _bridge_close(reply: number): void;
    _bridge_format(kind: number, value: number, out: number): void;
  }
  type Receive = (instance: WebAssembly.Instance, module: WebAssembly.Module) => void;
  export default function open(how: {
    instantiateWasm(imports: WebAssembly.Imports, receive: Receive): object;
    print?(line: string): void;
    printErr?(line: string): void;
  }): Promise<Glue>;
}
