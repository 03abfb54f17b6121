// What the addon exports, for the package's own files alone. A test compares this with the addon and with what they
// use.
//
// `number` arguments come from `Bridge.reserve` and make an operation cancellable. Options, configurations and results are JSON
// texts. Promises are rejected with the JSON text of an error; exceptions carry it in `message`, under the code `TRUNKLINE`.

export class Bridge {
  constructor(
    onReadable: (subscription: number) => void,
    onProgress: (number: number, events: string) => void,
    hasLibuv: boolean,
    resource: object,
  );
  newDesk(names: string[]): NativeDesk;
  startLogs(level: string): NativeLogs;
  newPool(options: string, desk?: NativeDesk): NativePool;
  reserve(): number;
  cancel(number: number): void;
  isHeld(): boolean;
  wake(): void;
  registry(part: string): string;
  unknownOption(option: string, known: string[]): string;
  unknownEvent(name: string, path: string): string;
  spellError(error: string): string;
  spellText(text: string): string;
  panicked(): string | null;
  plainAddress(uri: string): string;
  _panic(value: string): void;
  features(): string[];
  detect(workspace: string): string;
  endEnvironment(): void;
  endProcess(): void;
}

export class NativeCommandLine {
  constructor(arguments: string[]);
  run(): Promise<number>;
  interrupt(signal: number): void;
}

export class NativeDesk {
  number(): number;
  take(): string;
  answer(number: number, text: string): void;
  refuse(number: number, code: number, message: string): void;
  unfit(number: number, path: string, why: string): void;
}

export class NativeLogs {
  number(): number;
  take(most: number): string;
  isEnded(): boolean;
  close(): void;
}

export class NativePool {
  session(options: string, desk?: NativeDesk): NativeSession;
  // <operations pool> Written from core/pool/src/interface/operations; do not edit.
  acquire(server: string, config: string, session: string, options: string, number?: number): Promise<NativeLease>;
  restart(server: string, index?: number | null, number?: number): Promise<string>;
  acceptTool(server: string, tool: string, digest: string, number?: number): Promise<void>;
  setRoots(roots: string, number?: number): Promise<void>;
  setGates(gates: string): string;
  explain(name: string): string;
  status(options: string): string;
  metrics(options: string): string;
  drainAll(options: string, number?: number): Promise<string>;
  reconcile(servers: string, number?: number): Promise<string>;
  load(path: string, options: string, number?: number): Promise<string>;
  setSource(source: string, settings: string | undefined): string;
  switchSource(source: string, on: boolean): string;
  addServer(server: string, config: string): string;
  removeServer(server: string): string;
  setTrusted(trusted: boolean, number?: number): Promise<string>;
  reload(options: string, number?: number): Promise<string>;
  approvals(number?: number): Promise<string>;
  approve(server: string, hash: string, number?: number): Promise<string>;
  reject(server: string, hash: string, number?: number): Promise<string>;
  forget(server: string, number?: number): Promise<string>;
  settled(timeoutMs?: number, number?: number): Promise<string>;
  signIn(server: string, options: string, number?: number): Promise<string>;
  finishSignIn(redirectUrl: string, number?: number): Promise<string>;
  signOut(server: string, number?: number): Promise<string>;
  // </operations pool>
  subscribe(kinds: number[]): NativeSubscription;
  close(options: string): Promise<void>;
}

export class NativeSession {
  // <operations session> Written from core/pool/src/interface/operations; do not edit.
  acquire(server: string, config: string | undefined, options: string, number?: number): Promise<NativeLease>;
  started(number?: number): Promise<string>;
  refresh(server: string, number?: number): Promise<void>;
  listed(server?: string | null, number?: number): Promise<void>;
  introduction(server: string): string | null;
  tools(known?: string): string | null;
  prompts(known?: string): string | null;
  resources(known?: string): string | null;
  resourceTemplates(known?: string): string | null;
  configure(options: string): void;
  explain(name: string): string;
  disable(server: string): void;
  enable(server: string): void;
  callTool(tool: string, args: string, options?: string, number?: number): Promise<string>;
  request(server: string, method: string, params: string, options?: string, number?: number): Promise<string>;
  readResource(server: string, uri: string, options?: string, number?: number): Promise<string>;
  getPrompt(server: string, name: string, args: string, options?: string, number?: number): Promise<string>;
  complete(server: string, params: string, options?: string, number?: number): Promise<string>;
  // </operations session>
  ready(server?: string | null, timeoutMs?: number, number?: number): Promise<void>;
  toolsFor(shape: string, known?: string): string | null;
  provide(server: string): NativeProvided;
  subscribe(kinds: number[]): NativeSubscription;
  close(keepForMs?: number): void;
}

export class NativeProvided {
  number(): number;
  take(): string;
  send(connection: number, frame: string): void;
  close(connection: number): void;
}

export class NativeLease {
  server(): string;
  entryIndex(): number;
  generation(): number;
  state(): string;
  // <operations lease> Written from core/pool/src/interface/operations; do not edit.
  introduction(): string | null;
  tools(): string;
  callTool(tool: string, args: string, options?: string, number?: number): Promise<string>;
  request(method: string, params: string, options?: string, number?: number): Promise<string>;
  readResource(uri: string, options?: string, number?: number): Promise<string>;
  getPrompt(name: string, args: string, options?: string, number?: number): Promise<string>;
  complete(params: string, options?: string, number?: number): Promise<string>;
  subscribeResource(uri: string, number?: number): Promise<void>;
  unsubscribeResource(uri: string, number?: number): Promise<void>;
  // </operations lease>
  release(): void;
}

export class NativeSubscription {
  number(): number;
  snapshot(): string;
  take(most: number): string;
  isEnded(): boolean;
  close(): void;
}
