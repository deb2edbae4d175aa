// SPDX-License-Identifier: Apache-2.0
/**
 * startFaultCluster starts a cluster in which scenarios run one after the other. It has a control plane, the operator
 * with the rights of its service account behind a proxy that injects faults, and users and nodes that connect without
 * faults.
 */
import { defined } from "@switchyard/api";
import type { FakeNic } from "@switchyard/host/testing";
import { connect, isKubeError, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { operatorIdentity } from "@switchyard/render";
import { eventually, findWorkspaceRoot, spawnGuarded, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { simulatePods } from "../src/pods/component-pods.ts";
import { componentSettings } from "../src/operator/identity-objects.ts";
import { createClusterUsers, type ClusterUsers } from "./cluster-users.ts";
import { createFakeNodes } from "./fake-nodes.ts";
import { createInjector, type Injector, type KillOptions } from "./injector.ts";
import { startObserver, type Observer } from "./observer.ts";
import { findNode, usageOf } from "./process-usage.ts";
import { startReplica, type Replica } from "./replica.ts";
import { namespace } from "./scenarios/scenario.ts";
import { leases, observedTypes } from "./types.ts";

const controllers = [
  "garbage-collector-controller",
  "namespace-controller",
  "daemonset-controller",
  "disruption-controller",
  "pod-garbage-collector-controller",
  "validatingadmissionpolicy-status-controller",
];

export interface FaultCluster extends AsyncDisposable {
  readonly controlPlane: ControlPlane;
  /** Connected to the API server without faults, as an administrator. */
  readonly transport: Transport;
  readonly users: ClusterUsers;
  readonly observer: Observer;
  readonly injector: Injector;
  /** Kills the operator and restarts it. */
  restartOperator(): Promise<void>;
  /** Sends a signal to the process of the first replica. */
  signalOperator(signal: NodeJS.Signals): Promise<void>;
  /** Reconnects the replicas that were cut off to the API server. */
  mend(): void;
  /** Reports whether all replicas that are not cut off have these watches: paths with their field selectors. */
  isUp(watches: readonly string[]): boolean;
  /** Waits until a condition is true. Rejects on a timeout, and at once if the operator crashes. */
  until(what: string, holds: () => boolean, withinMs: number): Promise<void>;
  /** The last lines of the operator's log. */
  readLog(): Promise<string>;
  /** The lines that all replicas have logged, and those of the daemons. */
  readLines(): Promise<{ readonly operator: readonly string[]; readonly daemons: readonly string[] }>;
  /** The number of lines that all replicas and daemons have logged, and what the first replica uses. */
  measure(): Promise<ClusterUsage>;
  /**
   * Returns the log lines of processes that exited or had an unhandled error, because the operator logs only these as
   * errors, and of processes that lack rights.
   */
  readErrors(): Promise<readonly string[]>;
}

export interface ClusterUsage {
  readonly logLines: number;
  readonly rssMiB: number;
  readonly descriptors: number;
}

export interface FaultClusterOptions {
  /** Directory of the control plane's binaries. */
  readonly binaries: string;
  /** Path of the operator's program. */
  readonly main: string;
  /** Additional flags of the operator. */
  readonly flags: readonly string[];
  /** Number of the operator's replicas (default 1). Only a single replica is killed. */
  readonly replicas?: number;
  /** Further NICs of each node. */
  readonly nics?: readonly FakeNic[];
  /** Program of the daemons that are processes of their own; by default, its source. */
  readonly daemonMain?: string;
}

export async function startFaultCluster({
  binaries,
  main,
  flags,
  replicas: count = 1,
  nics = [],
  daemonMain,
}: FaultClusterOptions): Promise<FaultCluster> {
  const stack = new AsyncDisposableStack();
  try {
    const cluster = stack.use(await startControlPlane({ binaries }));
    for (const crds of ["charts/switchyard/crds", "libs/testing/testdata/multus"]) {
      await cluster.applyCrds(join(findWorkspaceRoot(), crds));
    }
    await cluster.kubectl(["create", "namespace", namespace]);
    const asOperator = await createOperatorAccount(cluster);
    stack.use(startControllerManager(cluster, binaries));
    const transport = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
    const directory = cluster.dataDir;
    const failed = new AbortController();
    const fail = (error: unknown): void => {
      failed.abort(error);
    };
    const observer = stack.use(await startObserver(transport, observedTypes, isNoise));
    const ofNodes = { transport, kubeconfig: cluster.kubeconfig, observer, namespace, directory, fail, nics };
    const nodes = stack.use(createFakeNodes({ ...ofNodes, ...defined({ daemonMain }) }));
    stack.use(simulatePods(transport, namespace)).run(true); // for the DaemonSets that the operator deploys
    const replicas: Replica[] = [];
    const cutOff = new Set<number>();
    const kill: KillOptions = {
      atOnce({ keepLease }) {
        replicas[0]?.proxy.sever();
        restart(keepLease).catch(fail);
      },
      soon() {
        restart(false).catch(fail);
      },
      partition(at, how) {
        cutOff.add(at);
        if (how === "cut") replicas[at]?.link.cut();
        else replicas[at]?.link.silence();
      },
    };
    // With two replicas the other one takes over. A single replica must recover within the time limit of a step.
    const leaseLostMs = count === 1 ? 12_000 : 20_000;
    const injector = createInjector({ kill, newestVersion: () => observer.newestVersion, leaseLostMs });
    for (let at = 0; at < count; at++) {
      const options = { rules: injector.rulesOf(at), directory: join(directory, `operator-${at}`) };
      replicas.push(stack.use(await startReplica({ ...options, main, flags, kubeconfig: asOperator })));
    }
    const [alone] = replicas;
    if (alone === undefined) throw new RangeError("at least one replica is required");
    const { operator, proxy } = alone;

    async function restart(keepLease: boolean): Promise<void> {
      await operator.kill();
      proxy.sever();
      if (!keepLease) await voidLease();
      injector.resetForRestart();
      proxy.mend();
      operator.restart();
    }

    /** Deletes the lease, because it would expire only after 15 s. */
    async function voidLease(): Promise<void> {
      const path = objectPath(leases, { name: "switchyard-operator", namespace });
      try {
        await transport.request({ method: "DELETE", path });
      } catch (error) {
        if (!isKubeError(error, "NotFound")) throw error;
      }
    }

    async function readLog(): Promise<string> {
      const ends = await Promise.all(replicas.map(async (replica) => (await replica.operator.readLog()).slice(-15)));
      return ends.map((lines) => lines.join("\n")).join("\nthe other replica:\n");
    }

    const hasCrashed = () => replicas.some((replica) => replica.operator.hasCrashed);

    async function readLines() {
      const logs = await Promise.all(replicas.map((replica) => replica.operator.readLog()));
      const daemons = await readFile(join(directory, "daemons.log"), "utf8");
      return { operator: logs.flat(), daemons: daemons.split("\n").filter((line) => line !== "") };
    }

    async function measure(): Promise<ClusterUsage> {
      const lines = await readLines();
      const { rssMiB, descriptors } = await usageOf(await findNode(join(directory, "operator-0/")));
      return { logLines: lines.operator.length + lines.daemons.length, rssMiB, descriptors };
    }

    return {
      controlPlane: cluster,
      transport,
      readLines,
      measure,
      users: createClusterUsers(transport, nodes),
      observer,
      injector,
      readLog,
      async readErrors() {
        const logs = await Promise.all(replicas.map((replica) => replica.operator.readLog()));
        return logs.flat().filter(isError);
      },
      restartOperator: () => restart(false),
      async signalOperator(signal) {
        process.kill(await findNode(join(directory, "operator-0/")), signal);
      },
      mend() {
        for (const { link } of replicas) link.mend();
        cutOff.clear();
      },
      isUp: (watches) =>
        replicas.every((_, at) => cutOff.has(at) || watches.every((watch) => injector.watchingOf(at).has(watch))),
      async until(what, holds, withinMs) {
        const isSo = () => hasCrashed() || holds();
        await eventually(what, isSo, { withinMs, everyMs: 20, signal: failed.signal });
        if (hasCrashed()) throw new Error(`the operator exited unexpectedly:\n${await readLog()}`);
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function isError(line: string): boolean {
  return line.includes('"level":"error"') || lacksRights.test(line);
}

/** The API server's error if RBAC refuses a request, or the grant of a right that the operator does not have. */
const lacksRights = /is forbidden: [Uu]ser .* (cannot|is attempting to grant)/;

/** Reports whether Kubernetes itself creates the object, so that it is not observed. */
function isNoise(object: KubeObject): boolean {
  const { name, namespace: place = "", ownerReferences = [] } = object.metadata;
  if (place.startsWith("kube-") || name.startsWith("kube-") || name.startsWith("system:")) return true;
  if (object.kind === "Service" && place === "default") return true; // the Service of the API server, which has its port
  if (object.kind === "ServiceAccount") return name === "default";
  return object.kind === "Pod" && ownerReferences.some(({ kind }) => kind === "DaemonSet");
}

/**
 * startControllerManager starts a kube-controller-manager with the controllers that the scenarios need. Start it after
 * the CRDs are created, because the garbage collector discovers later kinds only after 30 s. It has no controller that
 * reports nodes without a kubelet as lost.
 * Disposing the result kills the process.
 */
export function startControllerManager({ kubeconfig, dataDir }: ControlPlane, binaries: string): AsyncDisposable {
  const flags = [
    ...[`--kubeconfig=${kubeconfig}`, "--leader-elect=false", "--secure-port=0"],
    `--controllers=${controllers.join(",")}`,
  ];
  const log = join(dataDir, "kube-controller-manager.log");
  const manager = spawnGuarded(join(binaries, "kube-controller-manager"), flags, { log });
  return { [Symbol.asyncDispose]: () => manager.kill() };
}

/**
 * createOperatorAccount creates the operator's service account in a test cluster, with exactly the rights that an
 * installation gives it.
 * Returns the path of a kubeconfig with a token of the account. Names are the defaults of the operator's flags.
 */
export async function createOperatorAccount(cluster: ControlPlane): Promise<string> {
  const { operatorServiceAccount: account, namespace } = componentSettings;
  const list = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(list) });
  const token = await cluster.kubectl(["create", "token", account, "-n", namespace, "--duration", "24h"]);
  return cluster.clientFor({ token: token.trim() });
}
