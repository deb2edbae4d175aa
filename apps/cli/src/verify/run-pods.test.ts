// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { Clock } from "@switchyard/kube";
import type { ProbeSpec } from "./observation.ts";
import type { PodClient, VerifyPod } from "./pod-client.ts";
import { removeEnded, runPods, type RunOptions } from "./run-pods.ts";

/** A cluster whose pods run at once and print what the real program prints. */
class FakeCluster implements PodClient {
  readonly pods = new Map<string, VerifyPod>();
  /** Names of all pods that ever existed. */
  readonly created: string[] = [];
  /** Pods that do not start. */
  isStuck: (spec: ProbeSpec) => boolean = () => false;
  onCreate: () => void = () => undefined;
  phase = "Running";

  create(pod: VerifyPod): Promise<void> {
    this.pods.set(pod.metadata.name, pod);
    this.created.push(pod.metadata.name);
    this.onCreate();
    return Promise.resolve();
  }

  list(namespace: string, run?: string) {
    const all = [...this.pods.values()].filter(({ metadata }) => metadata.namespace === namespace);
    const found = all.filter(({ metadata }) => run === undefined || metadata.labels["switchyard.io/verify"] === run);
    return Promise.resolve(
      found.map((pod) => ({ metadata: pod.metadata, spec: { nodeName: "w1" }, status: this.#statusOf(pod) })),
    );
  }

  log({ name }: { readonly name: string }): Promise<string> {
    const { interface: device, listenSeconds } = specOf(this.pods.get(name));
    const found = { mac: "02:00:00:00:00:01", mtu: 1500, isUp: true, hasCarrier: true, addresses: ["192.168.78.2/24"] };
    const lines = [
      { kind: "interface", names: [device], found, vfioGroups: [], rdmaDevices: [], hasUverbs: false },
      ...(listenSeconds > 0 ? [{ kind: "done" }] : []),
    ];
    return Promise.resolve(lines.map((line) => JSON.stringify(line)).join("\n"));
  }

  events(): Promise<readonly unknown[]> {
    return Promise.resolve([{ reason: "FailedCreatePodSandBox", message: "no VF", count: 1 }]);
  }

  delete({ name }: { readonly name: string }): Promise<void> {
    this.pods.delete(name);
    return Promise.resolve();
  }

  nodeState(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  #statusOf(pod: VerifyPod): object {
    const startTime = "2026-11-28T10:00:00Z";
    if (this.isStuck(specOf(pod))) return { phase: "Pending" };
    return { phase: this.phase, startTime, containerStatuses: [{ name: "probe", state: { running: {} } }] };
  }
}

function specOf(pod: VerifyPod | undefined): ProbeSpec {
  const [variable] = pod?.spec.containers[0]?.env ?? [];
  return JSON.parse((variable?.value ?? "{}").replaceAll("$$", "$")) as ProbeSpec;
}

/** Time passes only while somebody waits. */
function fakeClock(): Clock {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    after(delayMs, run) {
      const timer = setImmediate(() => {
        nowMs += delayMs;
        run();
      });
      return () => {
        clearImmediate(timer);
      };
    },
  };
}

function optionsFor(client: PodClient, changes: Partial<RunOptions> = {}): RunOptions {
  const network = { namespace: "apps", name: "blue" };
  return {
    client,
    target: {
      network,
      kind: "SriovNetwork",
      resource: "openshift.io/fast",
      vlan: 100,
      other: { network: { namespace: "tenants", name: "green" }, vlan: 200 },
    },
    pods: [
      { node: "w1", role: "answers", targets: [] },
      { node: "w1", role: "sends", targets: ["w1"] },
      { node: "w1", role: "other-network", targets: [] },
    ],
    run: "0a1b",
    image: "registry.example/daemon@sha256:00",
    taintsOf: () => [
      { key: "gpu", effect: "NoSchedule" },
      { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" },
    ],
    timeoutMs: 60_000,
    throughputSeconds: 0,
    signal: new AbortController().signal,
    clock: fakeClock(),
    note: () => undefined,
    ...changes,
  };
}

describe("runPods", () => {
  it("starts the pods that answer first, tells the others their addresses, and removes all", async () => {
    const cluster = new FakeCluster();
    const specs: ProbeSpec[] = [];
    cluster.onCreate = () => specs.push(specOf([...cluster.pods.values()].at(-1)));
    const views = await runPods(optionsFor(cluster));
    expect(views.map(({ role, network }) => `${role} ${network}`)).toEqual([
      "answers apps/blue",
      "other-network tenants/green",
      "sends apps/blue",
    ]);
    expect(specs.at(-1)?.targets).toEqual([{ pod: "verify-0a1b-0", address: "192.168.78.2" }]);
    expect([...cluster.pods.keys()]).toEqual([]);
  });

  it("makes pods without rights that end by themselves", async () => {
    const cluster = new FakeCluster();
    let pod: VerifyPod | undefined;
    cluster.onCreate = () => (pod = [...cluster.pods.values()].at(-1));
    await runPods(optionsFor(cluster));
    expect(pod?.spec).toMatchObject({
      activeDeadlineSeconds: 180,
      automountServiceAccountToken: false,
      restartPolicy: "Never",
      securityContext: { runAsNonRoot: true },
      tolerations: [{ key: "gpu", effect: "NoSchedule", operator: "Exists" }],
    });
    const [container] = pod?.spec.containers ?? [];
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    // Kubernetes replaces $(NAME) and $$.
    expect(container?.command.at(-1)?.replaceAll("$$", "")).not.toContain("$");
  });

  it("removes the pods when it is interrupted", async () => {
    const cluster = new FakeCluster();
    const interrupt = new AbortController();
    cluster.isStuck = () => true;
    cluster.onCreate = () => {
      if (cluster.created.length === 2) interrupt.abort(new Error("interrupted"));
    };
    await expect(runPods(optionsFor(cluster, { signal: interrupt.signal }))).rejects.toThrow("interrupted");
    expect({ left: [...cluster.pods.keys()], created: cluster.created.length }).toEqual({ left: [], created: 2 });
  });

  it("removes the pods when one cannot be created", async () => {
    const cluster = new FakeCluster();
    cluster.onCreate = () => {
      if (cluster.created.length === 2) throw new Error("quota");
    };
    await expect(runPods(optionsFor(cluster))).rejects.toThrow("quota");
    expect([...cluster.pods.keys()]).toEqual([]);
  });

  it("says what it knows of pods that do not start in time", async () => {
    const cluster = new FakeCluster();
    cluster.isStuck = ({ listenSeconds }) => listenSeconds > 0;
    const views = await runPods(optionsFor(cluster));
    expect(views.map(({ hasStarted }) => hasStarted)).toEqual([true, true, false]);
    expect([...cluster.pods.keys()]).toEqual([]);
  });

  it("deletes pods of earlier runs that have ended, and no other", async () => {
    const cluster = new FakeCluster();
    const interrupt = new AbortController();
    cluster.delete = () => Promise.resolve();
    await runPods(optionsFor(cluster, { signal: interrupt.signal }));
    const forgotten = new Map(cluster.pods);
    cluster.delete = ({ name }) => Promise.resolve(void cluster.pods.delete(name));
    expect(await removeEnded(cluster, ["apps", "tenants"])).toBe(0);
    cluster.phase = "Failed";
    expect(await removeEnded(cluster, ["apps", "tenants"])).toBe(forgotten.size);
  });
});
