// SPDX-License-Identifier: Apache-2.0
/**
 * serveGrpc serves a gRPC service on a Unix socket.
 * Usage: `await using _server = await serveGrpc({ path, methods, handlers });`
 */
import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import {
  Server,
  ServerCredentials,
  type MethodDefinition,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";

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

/** Resolves when the socket is ready. Disposing of the result ends all calls and removes the socket. */
export async function serveGrpc({ path, methods, handlers, end }: GrpcService): Promise<AsyncDisposable> {
  await rm(path, { force: true });
  const server = new Server({ "grpc.enable_channelz": 0 });
  server.addService(methods as ServiceDefinition, handlers);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
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
      await rm(path, { force: true });
    },
  };
}
