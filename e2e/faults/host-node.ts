// SPDX-License-Identifier: Apache-2.0
/**
 * createHostNode creates a node whose host and daemon can fail. The daemon runs in this process on a fake kernel. It
 * can be lost without notice, as on a power failure, and restarted while the kernel continues.
 */
import { runDaemon } from "@switchyard/config-daemon/daemon";
import { createNode, namespace, type TestCluster } from "@switchyard/test-cluster";
import type { Host } from "@switchyard/host";
import { createFakeKernel, mlx5, type FakeKernel } from "@switchyard/host/testing";
import type { Transport } from "@switchyard/kube";
import { createLogger, Registry } from "@switchyard/service";
import { createWriteStream } from "node:fs";
import { join } from "node:path";

export interface HostNode extends AsyncDisposable {
  readonly kernel: FakeKernel;
  /** Starts a daemon. Call it again only after loseDaemon(). */
  startDaemon(): void;
  /** Stops the daemon: its running calls never end, and it starts no others. */
  loseDaemon(): void;
}

/** The daemon stops waiting for a step of the host after this time. */
export const stepDeadlineMs = 400;

export async function createHostNode(testCluster: TestCluster, name: string): Promise<HostNode> {
  const kernel = createFakeKernel({ nics: [mlx5("0000:3b:00.0")] });
  const stream = createWriteStream(join(testCluster.directory, `${name}.log`), { flags: "a" });
  const { log } = createLogger({ service: "config-daemon", level: "info", stream });
  const stop = new AbortController();
  let scenario = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  await createNode(testCluster, name);

  return {
    kernel,
    startDaemon() {
      scenario = new AbortController();
      ended = runDaemon({
        namespace,
        nodeName: name,
        maxPfs: 1,
        maxCacheAgeMs: 300_000,
        stepDeadlineMs,
        log,
        signal: stop.signal,
        transport: mortalTransport(testCluster.transport, scenario.signal),
        host: mortal(kernel.host(), scenario.signal),
        metrics: new Registry(),
        setNotReady: () => undefined,
      });
    },
    loseDaemon() {
      scenario.abort();
      ended = Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
      await new Promise((resolve) => stream.end(resolve));
    },
  };
}

const never = new Promise<never>(() => undefined);

function mortalTransport(transport: Transport, scenario: AbortSignal): Transport {
  return {
    get namespace() {
      return transport.namespace;
    },
    request: (request) => untilDeath(scenario, () => transport.request(request)),
    async *watch(request) {
      for await (const event of transport.watch(request)) {
        if (scenario.aborted) await never;
        yield event;
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Returns a host whose calls never end after `scenario` has aborted. */
function mortal(host: Host, scenario: AbortSignal): Host {
  const ports = Object.entries(host).map(([name, port]: [string, object]) => {
    if (name === "events") return [name, port] as const;
    const verbs = new Proxy(port, {
      get(target, verb) {
        const act: unknown = Reflect.get(target, verb);
        if (typeof act !== "function") return act;
        return (...args: readonly unknown[]) => untilDeath(scenario, () => Reflect.apply(act, target, args) as unknown);
      },
    });
    return [name, verbs] as const;
  });
  return Object.fromEntries(ports) as unknown as Host;
}

async function untilDeath<Answer>(scenario: AbortSignal, act: () => Answer): Promise<Awaited<Answer>> {
  const isDead = (): boolean => scenario.aborted;
  if (isDead()) return never;
  try {
    const answer = await act();
    return isDead() ? await never : answer;
  } catch (error) {
    if (isDead()) return never;
    throw error;
  }
}
