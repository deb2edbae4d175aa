// SPDX-License-Identifier: Apache-2.0
/**
 * Switchyard's operator and daemons replace upstream's: no host changes, no node is drained, and Switchyard owns the
 * fields that upstream wrote.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  annotations,
  labels,
  nodes,
  sriovNetworkNodePolicies,
  sriovNetworkNodeStates,
  type InterfaceSpec,
  type SriovNetworkNodeStateSpec,
  type SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { pci, upstreamSystemdMode } from "@switchyard/host/testing";
import { isRecord, objectPath, type KubeObject } from "@switchyard/kube";
import { eventually, isWrite } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { changesOf } from "./upstream-host.ts";
import {
  configMaps,
  devicePluginConfig,
  interruptedNodes,
  leftNode,
  policies,
  populate,
  upstreamNodes,
  type UpstreamWorld,
} from "./upstream-nodes.ts";
import { startUpstreamCluster, upstream, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";

let testCluster: UpstreamCluster;
let world: UpstreamWorld;
/** The time of the take-over, by the clock of the audit log. */
let takenOverAt: string;
const writesBefore = new Map<string, number>();

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  world = await populate(testCluster, [...upstreamNodes, ...interruptedNodes, leftNode]);
  for (const [name, { kernel }] of world.workers) {
    if (name === leftNode.name) for (const [path, text] of upstreamSystemdMode()) kernel.writeFile(path, text);
    writesBefore.set(name, kernel.writes.length);
  }
  takenOverAt = new Date().toISOString();
  testCluster.startOperator();
  for (const [name, worker] of world.workers) {
    worker.startDaemon(name === leftNode.name ? ["--use-external-drainer"] : []);
  }
}, 600_000);

afterAll(async () => {
  await disposeOf(world, testCluster);
}, 60_000);

type NodeState = KubeObject & {
  readonly spec?: SriovNetworkNodeStateSpec;
  readonly status?: SriovNetworkNodeStateStatus;
};

const readState = async (name: string): Promise<NodeState> => testCluster.read(sriovNetworkNodeStates, name);

/** Returns what Switchyard's daemon has changed on the host. */
function actsOn(name: string): readonly string[] {
  const worker = world.workers.get(name);
  return worker === undefined ? [] : changesOf(worker.kernel, writesBefore.get(name) ?? 0);
}

const quiet = upstreamNodes.map(({ name }) => name);

describe("a take-over from upstream", () => {
  it("ends with every policy Ready, as a pipeline would check", async () => {
    const names = Object.keys(policies).filter((name) => name !== "kept");
    const resources = names.map((name) => `sriovnetworknodepolicy/${name}`);
    await testCluster.kubectl(["wait", "--for=condition=Ready", "--timeout=60s", ...resources]);
  }, 90_000);

  it.each(quiet)("does not change the host: %s", async (name) => {
    const { status, metadata } = await eventually(`Switchyard's daemon has applied ${name}`, async () => {
      const state = await readState(name);
      return state.status?.observedGeneration === state.metadata.generation ? state : undefined;
    });
    expect(status).toMatchObject({ syncStatus: "Succeeded", lastSyncError: "" });
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
    expect(actsOn(name)).toEqual([]);
    expect(metadata.annotations).toEqual({
      [annotations.desiredState]: "Idle",
      [annotations.currentState]: "Idle",
    });
    expect(metadata.ownerReferences).toMatchObject([{ kind: "SriovOperatorConfig", uid: world.configUid }]);
  });

  it("requests no drain and cordons no node", async () => {
    for (const name of quiet) {
      const node = await testCluster.read(nodes, name);
      expect([name, node.metadata.annotations?.[annotations.nodeState]]).toEqual([name, "Idle"]);
    }
    const since = (await testCluster.audit()).filter((event) => isWrite(event) && event.stageTimestamp > takenOverAt);
    const ofQuietNodes = since.filter(({ objectRef }) => quiet.includes(objectRef?.name ?? ""));
    const words = ofQuietNodes.map(({ requestObject }) => JSON.stringify(requestObject)).join("\n");
    expect(words).not.toMatch(/Drain_Required|Reboot_Required|"unschedulable":true/);
    expect(since.filter(({ requestURI }) => /\/(eviction|binding)\b/.test(requestURI))).toEqual([]);
  });

  it("keeps each spec, except where upstream merged it wrongly", async () => {
    const ofUpstream = upstreamNodes.map(({ name, interfaces }) => [name, interfaces] as const);
    const expected = new Map<string, SriovNetworkNodeStateSpec>(
      ofUpstream.map(([name, interfaces]) => [name, { interfaces }]),
    );
    // sriov-operator.md M-4: the policy requests VFs 2 and 3. VFs 0 and 1 then belong to no policy and stay as they
    // are.
    const alias = expected.get("alias")?.interfaces ?? [];
    const narrowed = alias.map((pf): InterfaceSpec => {
      return { ...pf, vfGroups: (pf.vfGroups ?? []).map((each) => ({ ...each, vfRange: "2-3" })) };
    });
    expected.set("alias", { interfaces: narrowed });
    // sriov-operator.md M-44: the mode of the older pool applies.
    expected.set("pooled", { ...expected.get("pooled"), system: { rdmaMode: "shared" } });
    for (const [name, spec] of expected) expect([name, (await readState(name)).spec]).toEqual([name, spec]);
  });

  it("takes ownership of the fields that upstream wrote, except the annotations", async () => {
    for (const name of quiet) {
      const { managedFields = [] } = (await readState(name)).metadata;
      const theirs = managedFields.filter(
        ({ manager }) => manager === upstream.operator || manager === upstream.daemon,
      );
      const owned = theirs.flatMap(({ fieldsV1 }) => (isRecord(fieldsV1) ? Object.keys(fieldsV1) : []));
      expect([name, [...new Set(owned)]]).toEqual([name, ["f:metadata"]]);
    }
  });

  it("leaves the device plugin's ConfigMap unchanged for upstream's device plugin", async () => {
    const { metadata } = await testCluster.read(configMaps, devicePluginConfig);
    const writers = metadata.managedFields?.map(({ manager }) => manager);
    expect([writers, metadata.deletionTimestamp]).toEqual([[upstream.operator], undefined]);
  });

  it("keeps the label that lets the device plugin run on the node, and never removes it", async () => {
    for (const name of quiet) {
      expect([name, (await testCluster.read(nodes, name)).metadata.labels?.[labels.devicePlugin]]).toEqual([
        name,
        "Enabled",
      ]);
    }
    const since = (await testCluster.audit()).filter((event) => isWrite(event) && event.stageTimestamp > takenOverAt);
    const ofNodes = since.filter(
      ({ objectRef }) => objectRef?.resource === nodes.plural && quiet.includes(objectRef.name ?? ""),
    );
    expect(ofNodes.filter(({ requestObject }) => JSON.stringify(requestObject).includes(labels.devicePlugin))).toEqual(
      [],
    );
  });

  it("keeps the record of each PF in upstream's form, with at most one additional key, which Go ignores", async () => {
    for (const { name, interfaces } of upstreamNodes) {
      const records = await world.workers.get(name)?.kernel.host().records.list();
      const { interfaces: wanted = [] } = (await readState(name)).spec ?? {};
      expect(records?.size).toBe(interfaces.length);
      for (const spec of wanted) expect(records?.get(pci(spec.pciAddress))).toMatchObject({ spec });
    }
  });
});

describe("files of upstream's daemon", () => {
  it("are deleted before any other write if they would configure the node at its next boot", () => {
    expect(
      world.workers
        .get("left")
        ?.kernel.listFiles()
        .filter((path) => /sriov-|systemd/.test(path)),
    ).toEqual([]);
  });

  it("are kept if a configured PF needs them: an unchanged node keeps all its rules", () => {
    const files = world.workers.get("partitioned")?.kernel.listFiles() ?? [];
    expect(files.filter((path) => path.endsWith(".rules")).length).toBeGreaterThan(0);
    expect(files).toContain("/etc/udev/disable-nm-sriov.sh");
  });
});

describe("a change after the take-over", () => {
  it("is compared with the present state of the node", async () => {
    const harmless = { spec: { needVhostNet: true } };
    await testCluster.as(upstream.user).patch(sriovNetworkNodePolicies, "in-pools", harmless);
    const { status } = await eventually("the daemon has reported the change", async () => {
      const state = await readState("pooled");
      const isThere = state.spec?.interfaces?.[0]?.vfGroups?.[0]?.needVhostNet === true;
      return isThere && state.status?.observedGeneration === state.metadata.generation ? state : undefined;
    });
    expect(status).toMatchObject({ syncStatus: "Succeeded", lastSyncError: "", system: { rdmaMode: "shared" } });
    expect(actsOn("pooled")).toEqual(["modules.load tun", "modules.load vhost_net"]);
  });
});

describe("a PF that was removed from the policies while no operator ran", () => {
  const pf = pci("0000:01:00.1");

  it("is not reset before the external drainer has answered", async () => {
    await eventually("the daemon requests a drain", async () => {
      return (await readState("left")).metadata.annotations?.[annotations.desiredState] === "Drain_Required";
    });
    expect(await testCluster.read(nodes, "left")).toMatchObject({
      metadata: { annotations: { [annotations.nodeState]: "Drain_Required" } },
    });
    expect(actsOn("left")).toEqual([]);
    expect((await readState("left")).spec?.interfaces?.map(({ pciAddress }) => pciAddress)).toEqual(["0000:01:00.0"]);
  });

  it("is then reset and released", async () => {
    const drainer = testCluster.as("external-drainer");
    const answer = { metadata: { annotations: { [annotations.currentState]: "DrainComplete" } } };
    await drainer.patch(sriovNetworkNodeStates, "left", answer);
    await eventually("the daemon requests Idle", async () => {
      return (await readState("left")).metadata.annotations?.[annotations.desiredState] === "Idle";
    });
    await drainer.patch(sriovNetworkNodeStates, "left", {
      metadata: { annotations: { [annotations.currentState]: "Idle" } },
    });
    expect(actsOn("left")).toEqual(["sriov.setNumVfs 0000:01:00.1 0"]);
    const records = await world.workers.get("left")?.kernel.host().records.list();
    expect([...(records?.keys() ?? [])]).toEqual(["0000:01:00.0"]);
    // Of upstream's files, only the rule of the remaining PF is left, which Switchyard writes so that it calls no script.
    expect(world.workers.get("left")?.kernel.listFiles()).toEqual([
      "/etc/udev/rules.d/10-nm-disable-0000:01:00.0.rules",
    ]);
    expect((await world.workers.get("left")?.kernel.host().sriov.readPf(pf))?.sriov?.numVfs).toBe(0);
    await testCluster.kubectl(["wait", "--for=condition=Ready", "--timeout=30s", "sriovnetworknodepolicy/kept"]);
  }, 60_000);
});

describe("a drain that upstream had started", () => {
  it.each(interruptedNodes.map(({ name }) => name))(
    "is completed, and the node is released: %s",
    async (name) => {
      await eventually("all annotations are Idle", async () => {
        const { annotations: marks = {} } = (await readState(name)).metadata;
        const { annotations: ofNode = {} } = (await testCluster.read(nodes, name)).metadata;
        const all = [marks[annotations.desiredState], marks[annotations.currentState], ofNode[annotations.nodeState]];
        return all.every((mark) => mark === "Idle");
      });
      const node: KubeObject & { readonly spec?: { readonly unschedulable?: boolean } } = await testCluster.read(
        nodes,
        name,
      );
      expect(node.spec?.unschedulable).toBe(name === "closed" ? true : undefined);
      const pf = await world.workers.get(name)?.kernel.host().sriov.readPf(pci("0000:01:00.0"));
      expect(pf?.sriov?.numVfs).toBe(name === "draining" ? 3 : 2);
    },
    60_000,
  );
});

describe("going back to upstream", () => {
  it("finds objects that upstream's operator can update, and only annotations that it knows", async () => {
    const path = objectPath(sriovNetworkNodePolicies, { name: "fast-1g", namespace: "sriov-network-operator" });
    expect(await testCluster.transport.request({ method: "GET", path })).toMatchObject({ spec: { priority: 99 } });
    const state = await readState("partitioned");
    const spec = { bridges: {}, ...state.spec, system: {} };
    const dryRun = { fieldManager: upstream.operator, dryRun: "All" };
    const statePath = objectPath(sriovNetworkNodeStates, { name: "partitioned", namespace: "sriov-network-operator" });
    const body = { ...state, spec };
    expect(await testCluster.transport.request({ method: "PUT", path: statePath, query: dryRun, body })).toMatchObject({
      spec,
    });
  });
});
