// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { SriovNetworkNodePolicySpec } from "@switchyard/api";
import type { PodUse } from "@switchyard/policy";
import { admit } from "../admit.ts";
import type { ClusterView } from "../cluster-view.ts";
import { maxWarningLength, maxWarnings } from "./impact-warnings.ts";
import { create, node, operatorConfig, pf, policy, stoppedClock, update, vfs, view } from "../testing/objects.ts";

const eight = pf({ numVfs: 8, Vfs: vfs(8), owned: true, initialMtu: 1500 });
const workers = ["worker-1", "worker-2", "worker-3"].map((name) => node(name, [eight]));
const old = policy("p1");
const cluster = { nodes: workers, policies: [old] };

function uses(use: Partial<PodUse>): PodUse {
  return { resources: [], pfs: [], isUncertain: false, ...use };
}

describe("the warnings of a change", () => {
  it("name the drained nodes and count the pods that use the VFs", () => {
    const requested = [["p1res"], ["other", "p1res"], ["p1res"], ["p1res"], ["other"]];
    const podsOn = () => requested.map((resources) => uses({ resources }));
    const change = update(old, policy("p1", { numVfs: 16 }));
    const { allowed, warnings } = admit(change, view({ ...cluster, podsOn }), stoppedClock);
    expect(allowed).toBe(true);
    expect(warnings).toEqual([
      "reconfigures 0000:3b:00.0 (8 -> 16 VFs) on 3 nodes: drains worker-1, worker-2, worker-3; 12 pods use these VFs",
    ]);
    const lines = (podsOnNode: NonNullable<ClusterView["podsOn"]>) =>
      admit(change, view({ ...cluster, podsOn: podsOnNode }), stoppedClock).warnings;
    expect(lines((name) => (name === "worker-2" ? [uses({ resources: ["p1res"] })] : []))[0]).toMatch(
      /; 1 pod uses these VFs$/,
    );
    expect(lines(() => [uses({ resources: ["other"] })])[0]).toMatch(/; no pods use these VFs$/);
  });

  it("count pods that have or may have allocated VFs of the PF", () => {
    const podsOn = () => [
      uses({ pfs: ["0000:3b:00.0"] }),
      uses({ pfs: ["0000:5e:00.0"] }),
      uses({ isUncertain: true }),
      uses({}),
    ];
    const change = update(old, policy("p1", { numVfs: 16 }));
    const { warnings } = admit(
      change,
      view({ nodes: [node("worker-1", [eight])], policies: [old], podsOn }),
      stoppedClock,
    );
    expect(warnings[0]).toMatch(/drains worker-1; 2 pods use these VFs$/);
  });

  it("count a pod once, and only if its VFs are affected", () => {
    const second = pf({ ...eight, pciAddress: "0000:5e:00.0", name: "ens2f0" });
    const nodes = [node("worker-1", [eight, second]), node("worker-2", [eight, second])];
    const both = policy("p1", { nicSelector: { vendor: "8086" } });
    const podsOn = () => [uses({ resources: ["p1res"] })];
    const deleted = { kind: "SriovNetworkNodePolicy", operation: "DELETE", oldObject: both } as const;
    expect(admit(deleted, view({ nodes, policies: [both], podsOn }), stoppedClock).warnings).toEqual([
      "reconfigures 0000:3b:00.0, 0000:5e:00.0 (8 -> 0 VFs) on 2 nodes: drains worker-1, worker-2; 2 pods use these VFs",
    ]);
  });

  it("name fewer nodes if their names are long, and keep the number of pods", () => {
    const nodes = ["a", "b", "c"].map((name) => node(name.repeat(60), [eight]));
    const podsOn = () => [uses({ resources: ["p1res"] })];
    const change = update(old, policy("p1", { numVfs: 16 }));
    const { warnings } = admit(change, view({ nodes, policies: [old], podsOn }), stoppedClock);
    const name = "a".repeat(60);
    expect(warnings).toEqual([
      `reconfigures 0000:3b:00.0 (8 -> 16 VFs) on 3 nodes: drains ${name} and 2 more; 3 pods use these VFs`,
    ]);
  });

  it("count the VFs in pods if pods are not known", () => {
    const inPods = [
      ...vfs(8).slice(0, 5),
      ...vfs(8)
        .slice(5)
        .map(({ name: _, ...vf }) => vf),
    ];
    const nodes = [node("worker-1", [{ ...eight, Vfs: inPods }])];
    const { warnings } = admit(update(old, policy("p1", { numVfs: 16 })), view({ ...cluster, nodes }), stoppedClock);
    expect(warnings).toEqual([
      "reconfigures 0000:3b:00.0 (8 -> 16 VFs) on worker-1: drains worker-1; 3 VFs are in use by pods",
    ]);
  });

  describe("where the pods that have VFs are known", () => {
    const holder = (name: string) => {
      return { namespace: "apps", name, via: "device-plugin" as const, resource: "openshift.io/p1res", since: "" };
    };
    /** A node on which pods have these VFs, by index. */
    const held = (name: string, holders: Readonly<Record<number, string>>, known = true) => {
      const Vfs = vfs(8).map((vf) => ({ ...vf, ...(holders[vf.vfID] && { holder: holder(holders[vf.vfID] ?? "") }) }));
      return node(name, [{ ...eight, Vfs }], { holders: { known } });
    };
    const warningsOf = (next: Partial<SriovNetworkNodePolicySpec>, nodes: ClusterView["nodes"]) =>
      admit(update(old, policy("p1", next)), view({ nodes, policies: [old], podsOn: () => [] }), stoppedClock).warnings;

    it("count these pods, each once, whatever they request", () => {
      const nodes = [held("w1", { 0: "a", 1: "a", 5: "b" }), held("w2", { 7: "c" })];
      expect(warningsOf({ numVfs: 16 }, nodes)).toEqual([
        "reconfigures 0000:3b:00.0 (8 -> 16 VFs) on 2 nodes: drains w1, w2; 3 pods use these VFs",
      ]);
      expect(warningsOf({ numVfs: 16 }, [held("w1", {})])[0]).toMatch(/; no pods use these VFs$/);
    });

    it("count only the pods of the VFs that change", () => {
      const [first, last] = ["ens1f0#0-5", "ens1f0#6-7"].map((name) => ({ nicSelector: { pfNames: [name] } }));
      const [fast, user] = [policy("fast", first), policy("user", last)];
      const nodes = [held("w1", { 0: "a", 6: "b", 7: "b" })];
      const change = update(user, policy("user", { ...last, deviceType: "vfio-pci" }));
      const { warnings } = admit(change, view({ nodes, policies: [fast, user] }), stoppedClock);
      expect(warnings).toEqual([
        "reconfigures 0000:3b:00.0 (2 VFs bound to vfio-pci) on w1: drains w1; 1 pod uses these VFs",
      ]);
    });

    it("name VFs that change their resource when their pods end", () => {
      const nodes = [held("w1", { 0: "a", 1: "b" })];
      expect(warningsOf({ resourceName: "lab2" }, nodes)).toEqual([
        "moves 2 VFs of 0000:3b:00.0 from p1res to lab2 on w1 when their pods end",
      ]);
      expect(warningsOf({ resourceName: "lab2" }, [held("w1", { 3: "a" }), held("w2", {})])).toEqual([
        "moves 1 VF of 0000:3b:00.0 from p1res to lab2 on w1 when its pod ends",
      ]);
      expect(warningsOf({ resourceName: "lab2" }, [held("w1", {})])).toEqual([]);
    });

    it("fall back to the resources that pods request if holders are not known on a node", () => {
      const nodes = [held("w1", { 0: "a" }), held("w2", {}, false)];
      expect(warningsOf({ numVfs: 16 }, nodes)[0]).toMatch(/; no pods use these VFs$/);
    });
  });

  it("describe a deletion by the config daemon's own plan", () => {
    const deleted = admit(
      { kind: "SriovNetworkNodePolicy", operation: "DELETE", oldObject: old },
      view(cluster),
      stoppedClock,
    );
    expect(deleted).toMatchObject({
      allowed: true,
      warnings: ["reconfigures 0000:3b:00.0 (8 -> 0 VFs) on 3 nodes: drains worker-1, worker-2, worker-3"],
    });
  });

  it("are empty if the first VFs are created, which disrupts no pods", () => {
    const nodes = ["worker-1", "worker-2"].map((name) => node(name, [pf()]));
    expect(admit(create(policy("p2")), view({ nodes }), stoppedClock).warnings).toEqual([]);
  });

  it("are empty if the change has no effect", () => {
    const labelled = { ...old, metadata: { ...old.metadata, labels: { team: "net" } } };
    expect(admit(update(old, labelled), view(cluster), stoppedClock).warnings).toEqual([]);
    const weaker = policy("weak", { nicSelector: { vendor: "8086" }, priority: 99 });
    const strong = policy("p1", { priority: 1 });
    const { warnings } = admit(create(weaker), view({ nodes: workers, policies: [strong] }), stoppedClock);
    expect(warnings.filter((line) => line.includes("drains"))).toEqual([]);
  });

  it("are empty if only the assignment of devices changes, and leave out steps that are pending without the change", () => {
    const renamed = policy("p1", { resourceName: "other" });
    for (const nodes of [workers, [node("worker-1", [pf()])]]) {
      expect(admit(update(old, renamed), view({ nodes, policies: [old] }), stoppedClock).warnings).toEqual([]);
    }
  });

  it("list different changes below a summary, without nodes that are not disrupted", () => {
    const four = pf({ ...eight, numVfs: 4, Vfs: vfs(4) });
    const nodes = [node("new", [pf()]), node("small", [four]), ...workers];
    const { warnings } = admit(
      update(old, policy("p1", { numVfs: 16 })),
      view({ nodes, policies: [old] }),
      stoppedClock,
    );
    expect(warnings).toEqual([
      "4 nodes are affected: 4 are drained",
      "reconfigures 0000:3b:00.0 (4 -> 16 VFs) on small: drains small",
      "reconfigures 0000:3b:00.0 (8 -> 16 VFs) on 3 nodes: drains worker-1, worker-2, worker-3",
    ]);
  });

  it("say that drains are disabled", () => {
    const config = operatorConfig({ disableDrain: true });
    const change = update(old, policy("p1", { numVfs: 16 }));
    const { warnings } = admit(change, view({ ...cluster, operatorConfig: config }), stoppedClock);
    expect(warnings).toContain(
      "nodes are not drained because spec.disableDrain is set in SriovOperatorConfig/default: running pods lose their VFs",
    );
  });

  it("are limited in number and length on many different nodes with long names", () => {
    const nodes = Array.from({ length: 300 }, (_, index) => {
      const count = 1 + (index % 60);
      return node(`worker-${index}-${"x".repeat(240)}`, [pf({ numVfs: count, Vfs: vfs(count), owned: true })]);
    });
    const { warnings } = admit(
      update(old, policy("p1", { numVfs: 64 })),
      view({ nodes, policies: [old] }),
      stoppedClock,
    );
    expect(warnings).toHaveLength(maxWarnings);
    expect(warnings[0]).toBe("300 nodes are affected: 300 are drained");
    expect(warnings.at(-1)).toBe("52 more changes are not shown");
    expect(warnings.filter((line) => line.length > maxWarningLength)).toEqual([]);
  });

  it("say how many nodes were not evaluated in time", () => {
    let ticks = 0;
    const nodes = Array.from({ length: 50 }, (_, index) => {
      return node(`worker-${index}`, [pf({ numVfs: 8, Vfs: vfs(8), owned: true, mtu: 1500 + index })]);
    });
    const change = update(old, policy("p1", { numVfs: 16 }));
    const options = { nowMs: () => ticks++, impactBudgetMs: 9 };
    const { warnings } = admit(change, view({ nodes, policies: [old] }), options);
    expect(warnings[0]).toBe("10 nodes are affected: 10 are drained; 40 nodes could not be evaluated in time");
  });
});
