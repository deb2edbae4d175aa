// SPDX-License-Identifier: Apache-2.0
/**
 * createBpfmanClient calls the daemon of bpfman by its gRPC API (bpfman.v1, eve-and-afxdp.md b5), as bpfman's agent does.
 */
import { callGrpc, grpcMethod, MessageWriter, readMessage, type Codec, type MessageReader } from "@switchyard/kubelet";

/** How a program is attached, as the object of bpfman says. */
export interface BpfmanLink {
  readonly interfaceName: string;
  readonly priority: number;
  /** Actions after which the dispatcher runs the next program, by their numbers. */
  readonly proceedOn: readonly number[];
}

/** All methods reject with a ServiceError that has the words of bpfman. */
export interface BpfmanClient {
  /** Loads a program of type XDP. Returns its ID. */
  load(program: { readonly path: string; readonly functionName: string }): Promise<number>;
  /** Attaches a program. Returns the ID of the link. */
  attach(programId: number, link: BpfmanLink): Promise<number>;
  detach(linkId: number): Promise<void>;
  unload(programId: number): Promise<void>;
}

/** The daemon builds and loads a dispatcher for each interface. */
const timeoutMs = 60_000;

const request: Codec<MessageWriter> = { encode: (message) => message.finish(), decode: () => new MessageWriter() };
const response: Codec<MessageReader> = { encode: () => Buffer.alloc(0), decode: (bytes) => readMessage(bytes) };

export function createBpfmanClient(path: string): BpfmanClient {
  const signal = new AbortController().signal;
  const call = (method: string, message: MessageWriter): Promise<MessageReader> =>
    callGrpc(grpcMethod(`/bpfman.v1.Bpfman/${method}`, request, response), message, { path, timeoutMs, signal });

  return {
    async load({ path: file, functionName }) {
      const bytecode = new MessageWriter().text(3, file);
      const info = new MessageWriter().text(1, functionName);
      const loaded = await call("Load", new MessageWriter().message(1, bytecode).messages(9, [info]));
      const [program] = loaded.messages(1);
      return program?.messages(2)[0]?.number(1) ?? 0;
    },
    async attach(programId, { interfaceName, priority, proceedOn }) {
      const xdp = new MessageWriter().number(1, priority).text(2, interfaceName);
      for (const value of proceedOn) xdp.number(4, value);
      const attach = new MessageWriter().message(1, xdp);
      return (await call("Attach", new MessageWriter().number(1, programId).message(2, attach))).number(1);
    },
    async detach(linkId) {
      await call("Detach", new MessageWriter().number(1, linkId));
    },
    async unload(programId) {
      await call("Unload", new MessageWriter().number(1, programId));
    },
  };
}
