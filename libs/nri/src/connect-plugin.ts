// SPDX-License-Identifier: Apache-2.0
/**
 * connectPlugin connects a plugin to the NRI socket of a container runtime and serves its requests until the connection ends. The runtime
 * waits for each answer, and closes the connection of a plugin that takes too long, so each request has a deadline.
 */
import { createConnection, type Socket } from "node:net";
import { NriError } from "./nri-error.ts";
import {
  decodeConfigure,
  decodePodRequest,
  decodeStateChange,
  decodeSynchronize,
  encodeConfigureAnswer,
  encodeRegistration,
  encodeSynchronizeAnswer,
  pluginService,
  podEvents,
  runtimeService,
  type PodSandbox,
  type Registration,
  type RuntimeInfo,
} from "./nri-messages.ts";
import { connectionIds, createDemultiplexer, encodeMultiplexed } from "./wire/multiplexer.ts";
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  receiveRequests,
  receiveResponses,
  statusCodes,
  type TtrpcRequest,
  type TtrpcResponse,
} from "./wire/ttrpc.ts";

/**
 * What the plugin does. `signal` aborts shortly before the runtime stops waiting. The request has failed then, also if the function goes on.
 * The message of an error goes to the runtime, which shows it in an event of the pod.
 */
export interface PluginHandlers {
  /** Called once for each connection, with all pod sandboxes that the runtime knows. Those of unknown state are left out by containerd. */
  readonly synchronize: (pods: readonly PodSandbox[], runtime: RuntimeInfo) => void;
  /** The sandbox has a network namespace, and no container yet. An error keeps the pod from starting; the kubelet tries again. */
  readonly runPodSandbox: (pod: PodSandbox, signal: AbortSignal) => Promise<void>;
  /** All containers have ended. containerd logs an error and goes on. */
  readonly stopPodSandbox: (pod: PodSandbox, signal: AbortSignal) => Promise<void>;
  readonly removePodSandbox: (pod: PodSandbox, signal: AbortSignal) => Promise<void>;
}

export interface PluginOptions extends Registration {
  /** Path of the runtime's socket: "/var/run/nri/nri.sock". */
  readonly socketPath: string;
  readonly handlers: PluginHandlers;
}

/** Time for the runtime to answer the registration. */
const registrationTimeoutMs = 5_000;
/** Time in which the runtime wants an answer if it does not say (nri 0.12.0, pkg/api/timeouts.go). */
const defaultTimeoutMs = 2_000;
/** Part of the time after which the answer is an error, so that it arrives in time. */
const usedPart = 0.8;
/** A node has some hundreds. */
const maxPods = 65_536;

/**
 * Serves the plugin. Rejects with NriError, or with the error of the socket, when the connection has ended; when `signal` aborts, resolves.
 */
export async function connectPlugin(options: PluginOptions, signal: AbortSignal): Promise<void> {
  const socket = createConnection({ path: options.socketPath });
  const end = Promise.withResolvers<undefined>();
  const stop = (): void => {
    end.resolve(undefined);
  };
  const fail = (error: unknown): void => {
    end.reject(error);
  };
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  const limit = setTimeout(() => {
    fail(new NriError("TIMED_OUT", "the container runtime has not answered the registration in time"));
  }, registrationTimeoutMs);
  const registration = 1; // id of the stream of the plugin's only call
  let isRegistered = false;

  const receiveResponse = receiveResponses((stream, message) => {
    if (stream !== registration || isRegistered) {
      throw new NriError("UNKNOWN_STREAM", "the container runtime has answered a call that was not made");
    }
    clearTimeout(limit);
    isRegistered = true;
    const { error } = decodeResponse(message);
    if (error !== undefined) {
      throw new NriError("REFUSED", `the container runtime has refused the plugin with the code ${error.code}`);
    }
  });
  const answers = answerRequests(options.handlers);
  const receiveRequest = receiveRequests((stream, message) => {
    void answers(message).then((response) => {
      send(socket, connectionIds.plugin, encodeResponse(stream, response));
    }, fail);
  });
  const receive = createDemultiplexer(
    new Map<number, (bytes: Buffer) => void>([
      [connectionIds.plugin, receiveRequest],
      [connectionIds.runtime, receiveResponse],
    ]),
  );

  socket.on("connect", () => {
    const payload = encodeRegistration(options);
    const call = { service: runtimeService, method: "RegisterPlugin", payload, timeoutMs: registrationTimeoutMs };
    send(socket, connectionIds.runtime, encodeRequest(registration, call));
  });
  socket.on("data", (bytes: Buffer) => {
    try {
      receive(bytes);
    } catch (error) {
      fail(error);
      socket.destroy();
    }
  });
  socket.on("error", fail);
  socket.on("close", () => {
    fail(new NriError("CLOSED", "the container runtime has closed the connection"));
  });
  try {
    await end.promise;
  } finally {
    clearTimeout(limit);
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

function send(socket: Socket, connection: number, frame: Buffer): void {
  if (!socket.destroyed) socket.write(encodeMultiplexed(connection, frame));
}

type Answer = (request: TtrpcRequest) => Buffer | Promise<Buffer>;

const nothing = Buffer.alloc(0);

/** Returns a function that answers the requests of one connection. It rejects with NriError TOO_LONG only. */
function answerRequests(handlers: PluginHandlers): (message: Buffer) => Promise<TtrpcResponse> {
  let pods: PodSandbox[] = [];
  let runtime: RuntimeInfo = { name: "", version: "", nriVersion: "", requestTimeoutMs: 0 };

  /** Runs the handler of an event. */
  async function onPod(
    handle: (pod: PodSandbox, signal: AbortSignal) => Promise<void>,
    pod: PodSandbox,
    { timeoutMs }: TtrpcRequest,
  ): Promise<Buffer> {
    await withDeadline((timeoutMs || runtime.requestTimeoutMs || defaultTimeoutMs) * usedPart, (signal) =>
      handle(pod, signal),
    );
    return nothing;
  }

  const methods: Readonly<Record<string, Answer>> = {
    Configure({ payload }) {
      runtime = decodeConfigure(payload);
      return encodeConfigureAnswer();
    },
    Synchronize({ payload }) {
      const part = decodeSynchronize(payload);
      pods.push(...part.pods);
      if (pods.length > maxPods) throw new NriError("TOO_LONG", `the container runtime has more than ${maxPods} pods`);
      if (!part.more) {
        handlers.synchronize(pods, runtime);
        pods = [];
      }
      return encodeSynchronizeAnswer(part);
    },
    Shutdown: () => nothing,
    RunPodSandbox: (request) => onPod(handlers.runPodSandbox, decodePodRequest(request.payload), request),
    StopPodSandbox: (request) => onPod(handlers.stopPodSandbox, decodePodRequest(request.payload), request),
    RemovePodSandbox: (request) => onPod(handlers.removePodSandbox, decodePodRequest(request.payload), request),
    /** Runtimes before NRI 0.12 report the events of pods in this way. */
    StateChange(request) {
      const { event, pod } = decodeStateChange(request.payload);
      const handle = handlersByEvent.get(event);
      return handle === undefined || pod === undefined ? nothing : onPod(handle, pod, request);
    },
  };
  const handlersByEvent = new Map<number, PluginHandlers["runPodSandbox"]>([
    [podEvents.runPodSandbox, handlers.runPodSandbox],
    [podEvents.stopPodSandbox, handlers.stopPodSandbox],
    [podEvents.removePodSandbox, handlers.removePodSandbox],
  ]);

  return async (message) => {
    try {
      const request = decodeRequest(message);
      const isKnown = request.service === pluginService && Object.hasOwn(methods, request.method);
      const answer = isKnown ? methods[request.method] : undefined;
      if (answer === undefined) return failure(statusCodes.unimplemented, "the plugin does not have this method");
      return { payload: await answer(request) };
    } catch (error) {
      if (!(error instanceof NriError))
        return failure(statusCodes.unknown, error instanceof Error ? error.message : String(error));
      if (error.code === "MALFORMED_PAYLOAD") return failure(statusCodes.invalidArgument, error.message);
      if (error.code === "TIMED_OUT") return failure(statusCodes.deadlineExceeded, error.message);
      throw error;
    }
  };
}

function failure(code: number, message: string): TtrpcResponse {
  return { payload: nothing, error: { code, message } };
}

/** Rejects with NriError TIMED_OUT if `act` has not ended by then. */
async function withDeadline(ms: number, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const deadline = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new NriError(
      "TIMED_OUT",
      `not done within the ${Math.round(ms)} ms that the container runtime allows`,
    );
    deadline.abort(error);
    late.reject(error);
  }, ms);
  try {
    await Promise.race([act(deadline.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
