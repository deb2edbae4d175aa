// SPDX-License-Identifier: Apache-2.0
/**
 * grpcMethod describes a method of a gRPC service by its name and the codecs of its messages, which are written by hand: the APIs of
 * the kubelet have a dozen small messages.
 * Usage: `const register = grpcMethod("/v1beta1.Registration/Register", encodeRegistration, () => undefined);`
 */
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  type MethodDefinition,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Encodes or decodes a message. A decoder throws ProtobufError. */
export interface Codec<Message> {
  readonly encode: (message: Message) => Buffer;
  readonly decode: (bytes: Buffer) => Message;
}

/** A message without fields. */
export type Empty = Readonly<Record<string, never>>;

export const empty: Codec<Empty> = { encode: () => Buffer.alloc(0), decode: () => ({}) };

/** Returns the method with one request and one response, or a stream of responses. */
export function grpcMethod<Request, Response>(
  path: string,
  request: Codec<Request>,
  response: Codec<Response> & { readonly isStream?: boolean },
): MethodDefinition<Request, Response> {
  return {
    path,
    requestStream: false,
    responseStream: response.isStream === true,
    requestSerialize: request.encode,
    requestDeserialize: request.decode,
    responseSerialize: response.encode,
    responseDeserialize: response.decode,
  };
}

interface GrpcTarget {
  /** Path of the socket. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** As many pods as a node can have, with all their devices. */
const maxResponseBytes = 16 << 20;

/**
 * callGrpc makes one call on a Unix socket, on a connection of its own. Rejects with a ServiceError, whose `code` is one of
 * grpc.status: UNAVAILABLE without a server, DEADLINE_EXCEEDED.
 */
export async function callGrpc<Request, Response>(
  method: MethodDefinition<Request, Response>,
  request: Request,
  { path, timeoutMs, signal }: GrpcTarget,
): Promise<Response> {
  const client = new Client(`unix:${path}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": maxResponseBytes,
    "grpc.enable_channelz": 0,
    "grpc.use_local_subchannel_pool": 1, // the state of a socket that was deleted is not remembered
  });
  try {
    return await new Promise<Response>((resolve, reject) => {
      const call = client.makeUnaryRequest(
        ...([method.path, method.requestSerialize, method.responseDeserialize, request] as const),
        { deadline: Date.now() + timeoutMs },
        (error, response) => {
          if (error !== null) reject(error);
          else if (response === undefined) reject(new Error(`${method.path}: no response`));
          else resolve(response);
        },
      );
      signal.addEventListener("abort", () => {
        call.cancel();
      });
      if (signal.aborted) call.cancel();
    });
  } finally {
    client.close();
  }
}

export interface GrpcService {
  /** Path of the socket. A file that exists is replaced. */
  readonly path: string;
  // Methods differ in the types of their messages, which ServiceDefinition does not know either.
  readonly methods: Readonly<Record<string, MethodDefinition<never, never>>> | ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
  /** Ends streams, which would otherwise last until the client ends them. Called before the disposal. */
  readonly end?: () => void;
}

/** Calls have this time to end before they are cancelled. */
const graceMs = 1_000;

let sockets = 0;

/**
 * serveGrpc serves a gRPC service on a Unix socket. Resolves when the socket is ready. Disposing of the result ends all calls and
 * removes the socket, unless another process has replaced it.
 */
export async function serveGrpc({ path, methods, handlers, end }: GrpcService): Promise<AsyncDisposable> {
  // A server removes the path that it was bound to when it ends, whoever has bound it again. The kubelet ignores names with a dot.
  const bound = join(dirname(path), `.${process.pid}-${++sockets}`);
  await rm(bound, { force: true });
  const server = new Server({ "grpc.enable_channelz": 0 });
  server.addService(methods as ServiceDefinition, handlers);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${bound}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  const { ino } = await stat(bound);
  await rename(bound, path);
  return {
    async [Symbol.asyncDispose]() {
      end?.();
      const isShutDown = new Promise<void>((resolve) => {
        server.tryShutdown(() => {
          resolve();
        });
      });
      const grace = new AbortController();
      // tryShutdown() does not return after forceShutdown() if a client keeps a call open (1.14.7).
      await Promise.race([isShutDown, delay(graceMs, undefined, { signal: grace.signal }).catch(() => undefined)]);
      grace.abort();
      server.forceShutdown();
      const present = await stat(path).catch(() => undefined);
      if (present?.ino === ino) await rm(path, { force: true });
    },
  };
}
