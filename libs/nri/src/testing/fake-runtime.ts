// SPDX-License-Identifier: Apache-2.0
/**
 * The NRI side of a container runtime, for tests: a socket on which plugins register, and calls to them. It sends what it is told to send,
 * also what no runtime sends.
 * Usage: `await using runtime = await startFakeRuntime(path); const plugin = await runtime.nextPlugin(); await plugin.call("RunPodSandbox", pod);`
 */
import { MessageWriter } from "@switchyard/kubelet";
import { rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { pluginService, podEvents, type PodSandbox, type Registration } from "../nri-messages.ts";
import { connectionIds, createDemultiplexer, encodeMultiplexed } from "../wire/multiplexer.ts";
import {
  decodeRequest,
  decodeResponse,
  decoding,
  encodeRequest,
  encodeResponse,
  receiveRequests,
  receiveResponses,
  type TtrpcResponse,
} from "../wire/ttrpc.ts";

export interface FakeRuntime extends AsyncDisposable {
  /** Resolves with the next plugin that registers. It is configured, and not synchronized. */
  nextPlugin(): Promise<ConnectedPlugin>;
}

export interface FakeRuntimeOptions {
  /** Code with which registrations are refused; they are accepted by default. */
  readonly refuse?: number;
}

export interface ConnectedPlugin {
  readonly registration: Registration;
  /** Mask of the events that it subscribes to. */
  readonly events: number;
  /** Lists all pods to the plugin, in parts of this many. */
  synchronize(pods: readonly PodSandbox[], perPart?: number): Promise<void>;
  /** Calls the plugin; a string is the error of its answer. */
  call(method: keyof typeof methods, pod: PodSandbox, timeoutMs?: number): Promise<string | undefined>;
  /** The same event as runtimes before NRI 0.12 report it. */
  stateChange(method: keyof typeof methods, pod: PodSandbox): Promise<string | undefined>;
  /** Calls any method of any service. */
  callRaw(service: string, method: string, payload: Buffer): Promise<TtrpcResponse>;
  /** Sends these bytes, whatever they are. */
  sendRaw(bytes: Buffer): void;
  close(): void;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
}

const methods = {
  RunPodSandbox: podEvents.runPodSandbox,
  StopPodSandbox: podEvents.stopPodSandbox,
  RemovePodSandbox: podEvents.removePodSandbox,
} as const;

export async function startFakeRuntime(socketPath: string, options: FakeRuntimeOptions = {}): Promise<FakeRuntime> {
  const sockets = new Set<Socket>();
  const plugins: ConnectedPlugin[] = [];
  const waiting: ((plugin: ConnectedPlugin) => void)[] = [];
  await rm(socketPath, { force: true });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    acceptPlugin(socket, options, (plugin) => {
      const next = waiting.shift();
      if (next === undefined) plugins.push(plugin);
      else next(plugin);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(socketPath, resolve);
  });
  return {
    nextPlugin() {
      const plugin = plugins.shift();
      return plugin === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(plugin);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function acceptPlugin(
  socket: Socket,
  { refuse }: FakeRuntimeOptions,
  connected: (plugin: ConnectedPlugin) => void,
): void {
  const answers = new Map<number, (response: TtrpcResponse) => void>();
  let stream = -1;
  const closed = new Promise<void>((resolve) =>
    socket.once("close", () => {
      resolve();
    }),
  );

  function callRaw(service: string, method: string, payload: Buffer, timeoutMs = 0): Promise<TtrpcResponse> {
    stream += 2;
    const answered = new Promise<TtrpcResponse>((resolve) => answers.set(stream, resolve));
    send(connectionIds.plugin, encodeRequest(stream, { service, method, payload, timeoutMs }));
    return answered;
  }

  async function call(method: string, message: MessageWriter, timeoutMs?: number): Promise<TtrpcResponse> {
    return callRaw(pluginService, method, message.finish(), timeoutMs);
  }

  function send(connection: number, frame: Buffer): void {
    socket.write(encodeMultiplexed(connection, frame));
  }

  async function configure(registration: Registration): Promise<void> {
    const { payload } = await call("Configure", new MessageWriter().text(2, "fake").number(5, 2_000));
    connected({
      registration,
      events: decoding(payload, ({ number }) => number(2)),
      async synchronize(pods, perPart = pods.length) {
        let at = 0;
        do {
          const part = pods.slice(at, at + perPart);
          at += perPart;
          const more = at < pods.length;
          const answer = await call(
            "Synchronize",
            new MessageWriter().messages(1, part.map(encodePod)).boolean(3, more),
          );
          const hasMore = decoding(answer.payload, ({ number }) => number(2) === 1);
          if (hasMore !== more) throw new Error("the plugin does not handle split requests"); // as containerd
        } while (at < pods.length);
      },
      async call(method, pod, timeoutMs) {
        const answer = await call(method, new MessageWriter().message(1, encodePod(pod)), timeoutMs);
        return answer.error?.message;
      },
      async stateChange(method, pod) {
        const event = new MessageWriter().number(1, methods[method]).message(2, encodePod(pod));
        return (await call("StateChange", event)).error?.message;
      },
      callRaw,
      sendRaw: (bytes) => socket.write(bytes),
      close: () => socket.destroy(),
      closed,
    });
  }

  const receive = createDemultiplexer(
    new Map<number, (bytes: Buffer) => void>([
      [
        connectionIds.runtime,
        receiveRequests((id, message) => {
          const { payload } = decodeRequest(message);
          const registration = decoding(payload, ({ text }) => ({ name: text(1), index: text(2) }));
          const error = refuse === undefined ? {} : { error: { code: refuse, message: "refused by the test" } };
          send(connectionIds.runtime, encodeResponse(id, { payload: Buffer.alloc(0), ...error }));
          if (refuse === undefined) void configure(registration);
        }),
      ],
      [
        connectionIds.plugin,
        receiveResponses((id, message) => {
          answers.get(id)?.(decodeResponse(message));
        }),
      ],
    ]),
  );
  socket.on("data", receive);
}

function encodePod({ id, name, uid, namespace, annotations, networkNamespace }: PodSandbox): MessageWriter {
  const pairs = [...annotations].map(([key, value]) => new MessageWriter().text(1, key).text(2, value));
  const pod = new MessageWriter().text(1, id).text(2, name).text(3, uid).text(4, namespace).messages(6, pairs);
  if (networkNamespace === undefined) return pod;
  const namespaces = new MessageWriter().text(1, "network").text(2, networkNamespace);
  return pod.message(8, new MessageWriter().message(5, namespaces));
}
