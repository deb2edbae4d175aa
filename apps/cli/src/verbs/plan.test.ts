// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { isJsonObject } from "../json.ts";
import { node, policy, state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

const fresh = [node("worker-1"), state("worker-1")];
const used = [node("worker-2"), state("worker-2", 2)];
const cluster = [...fresh, ...used, policy("a", { nodeSelector: {}, numVfs: 4 })];

const config = (spec: object) => ({
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovOperatorConfig",
  spec,
  metadata: { name: "default", namespace: "sriov-network-operator" },
});

/** A node state that is configured as its spec says, and whose PF Switchyard owns. */
function ownedState(name: string) {
  const { status, ...rest } = state(name, 2);
  const interfaces = status.interfaces.map((nic) => ({ ...nic, owned: true }));
  return { ...rest, status: { ...status, interfaces } };
}

describe("switchyard plan", () => {
  it("prints one node's plan as data", async () => {
    const { code, out, err } = await runCli(["plan", "-f", "-", "--node", "worker-2", "-o", "json"], {
      input: cluster,
    });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const plan: unknown = JSON.parse(out);
    expect(isJsonObject(plan) && Object.keys(plan)).toEqual(["node", "impact", "steps", "reasons", "converged"]);
    expect(plan).toMatchObject({
      node: "worker-2",
      impact: "drain",
      reasons: [
        {
          field: "spec.interfaces[0].numVfs",
          text: "0000:3b:00.0: changing numVfs from 2 to 4 removes the 2 existing VFs",
        },
      ],
      converged: false,
    });
    expect(plan).toHaveProperty("steps.0", {
      kind: "set-num-vfs",
      pciAddress: "0000:3b:00.0",
      from: 2,
      to: 4,
      text: "set sriov_numvfs 2 -> 4 on 0000:3b:00.0",
    });
  });

  it("refuses an input without nodes, and says how to get them", async () => {
    const { code, err } = await runCli(["plan", "-f", "-"], { input: [policy("a", { nodeSelector: {}, numVfs: 4 })] });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^nothing to plan: .*kubectl get nodes,/) });
  });

  it("prints all nodes, sorted, and a summary", async () => {
    const { out } = await runCli(["plan", "-f", "-", "-o", "json"], { input: cluster });
    expect(JSON.parse(out)).toMatchObject({
      nodes: [
        { node: "worker-1", impact: "none" },
        { node: "worker-2", impact: "drain" },
      ],
      summary: { nodes: 2, converged: 0, none: 1, drain: 1, reboot: 0 },
    });
  });

  it("prints text of at most 80 columns", async () => {
    const { out } = await runCli(["plan", "-f", "-"], { input: cluster });
    expect(out).toContain("worker-1:\n  + set sriov_numvfs 0 -> 4 on 0000:3b:00.0\n");
    expect(out).toContain("  Impact: none, no pods are disrupted\n");
    expect(out).toContain("worker-2:\n  ~ set sriov_numvfs 2 -> 4 on 0000:3b:00.0\n");
    expect(out).toContain(
      "  Impact: drain, because of\n    spec.interfaces[0].numVfs\n      0000:3b:00.0: changing numVfs from 2 to 4 removes the 2 existing VFs\n",
    );
    expect(out).toMatch(/\nPlan: 2 nodes: 1 changes without disrupting pods, 1 drains\.\n$/);
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it.each([
    { isTTY: true, env: {}, coloured: true },
    { isTTY: true, env: { NO_COLOR: "1" }, coloured: false },
    { isTTY: true, env: { TERM: "dumb" }, coloured: false },
    { isTTY: false, env: {}, coloured: false },
  ])("is coloured on terminals only: TTY $isTTY, $env", async ({ coloured, ...terminal }) => {
    const { out } = await runCli(["plan", "-f", "-"], { input: cluster, ...terminal });
    expect(out.includes("\u001b[")).toBe(coloured);
  });

  it.each([
    { what: "changes to make", input: cluster, code: 2 },
    { what: "no changes to make", input: [...fresh, policy("a", { numVfs: 0 })], code: 0 },
    { what: "changes that cannot be made", input: [...fresh, policy("a", { numVfs: 65 })], code: 1 },
  ])("exits under --detailed-exitcode with $code for $what", async ({ input, code }) => {
    expect(await runCli(["plan", "-f", "-", "--detailed-exitcode"], { input })).toMatchObject({ code });
  });

  it("plans the policies with the defaults of the webhook", async () => {
    const weak = policy("z-weak", { numVfs: 8, resourceName: "weak" });
    const strong = policy("strong", { numVfs: 2, priority: 10 });
    const { out } = await runCli(["plan", "-f", "-"], { input: [...fresh, weak, strong] });
    expect(out).toContain("+ set sriov_numvfs 0 -> 2 on 0000:3b:00.0");
  });

  it("shows the reset of PFs that no policy selects any more if the input has no policies, as render does", async () => {
    const input = [node("worker-2"), ownedState("worker-2")];
    const rendered = await runCli(["render", "-f", "-", "-o", "json"], { input });
    expect(rendered.out).toContain('"unselected"');
    const { out } = await runCli(["plan", "-f", "-", "-o", "json"], { input });
    expect(JSON.parse(out)).toMatchObject({ nodes: [{ node: "worker-2", impact: "drain", converged: false }] });
    const other = await runCli(["plan", "-f", "-", "-o", "json"], { input: [ownedState("worker-2")] });
    expect(JSON.parse(other.out)).toMatchObject({ nodes: [{ node: "worker-2", converged: true }] });
  });

  it("plans the spec of the node state if the input has no policies", async () => {
    const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", name: "ens1f0", numVfs: 1 }] };
    const { out } = await runCli(["plan", "-f", "-"], { input: [{ ...state("worker-1"), spec }] });
    expect(out).toContain("+ set sriov_numvfs 0 -> 1 on 0000:3b:00.0");
  });

  describe("for a node that the Go operator's daemon configured", () => {
    const vfGroups = [{ resourceName: "nics", vfRange: "0-1", isRdma: true }];
    const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", name: "ens1f0", numVfs: 2, vfGroups }] };
    const migrated = [node("worker-1"), { ...state("worker-1", 2), spec }];

    it("has no steps if the node is configured as the policies request, although it reports no administrative MAC addresses", async () => {
      const { out } = await runCli(["plan", "-f", "-", "-o", "json"], {
        input: [...migrated, policy("a", { numVfs: 2, isRdma: true })],
      });
      expect(JSON.parse(out)).toMatchObject({ nodes: [{ impact: "none", steps: [], converged: true }] });
    });

    it("plans the reset of a PF that the stored spec configures and no policy selects", async () => {
      const { out } = await runCli(["plan", "-f", "-", "-o", "json"], {
        input: [...migrated, policy("other", { nicSelector: { pfNames: ["ens9f0"] } })],
      });
      const text = "0000:3b:00.0: changing numVfs from 2 to 0 removes the 2 existing VFs";
      expect(JSON.parse(out)).toMatchObject({
        nodes: [{ impact: "drain", reasons: [{ field: "spec.unselected", text }] }],
      });
    });
  });

  describe("with pods in the input", () => {
    const vf = { containers: [{ resources: { requests: { "openshift.io/nics": "1" } } }] };
    const pod = (name: string, nodeName: string, spec: object = {}, metadata: object = {}) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "apps", ...metadata },
      spec: { nodeName, ...spec },
      status: { phase: "Running" },
    });
    const daemonSet = [{ kind: "DaemonSet", controller: true }];
    const pods = [
      pod("vnf", "worker-2", vf),
      pod("plain", "worker-2"),
      pod("agent", "worker-2", { ...vf, tolerations: [{ operator: "Exists" }] }, { ownerReferences: daemonSet }),
      pod("other", "worker-1", vf),
      { ...pod("done", "worker-2", vf), status: { phase: "Succeeded" } },
    ];
    const evicted = [{ namespace: "apps", name: "vnf" }];
    const disrupted = [{ namespace: "apps", name: "agent" }];

    it("names the pods that a drain evicts, and those that cannot leave", async () => {
      const { out } = await runCli(["plan", "-f", "-", "-o", "json"], { input: [...cluster, ...pods] });
      expect(JSON.parse(out)).toMatchObject({
        nodes: [{ node: "worker-1" }, { node: "worker-2", impact: "drain", pods: { evicted, disrupted } }],
        summary: { evictedPods: 1 },
      });
      expect(out.match(/"evicted":/g)).toHaveLength(1); // not for the node that is not drained
      const { out: text } = await runCli(["plan", "-f", "-"], { input: [...cluster, ...pods] });
      expect(text).toContain(
        "  Pods: 1 pod is evicted: apps/vnf\n        1 pod is not evicted and can lose VFs: apps/agent\n",
      );
      expect(text).toMatch(/1 drains\. 1 pod is evicted\.\n$/);
      const { out: page } = await runCli(["plan", "-f", "-", "-o", "html"], { input: [...cluster, ...pods] });
      expect(page).toContain("<li>1 pod is evicted: apps/vnf</li>");
    });

    it("evicts pods that were allocated a VF by a ResourceClaim", async () => {
      const driver = "nics.example.com";
      const attributes = { "resource.kubernetes.io/pciBusID": { string: "0000:3b:02.1" } };
      const results = [{ request: "nic", driver, pool: "worker-2", device: "vf-1" }];
      const resource = { apiVersion: "resource.k8s.io/v1" };
      const input = [
        ...cluster,
        pod("claimant", "worker-2", { resourceClaims: [{ name: "nic", resourceClaimName: "mine" }] }),
        {
          ...resource,
          kind: "ResourceClaim",
          metadata: { name: "mine", namespace: "apps" },
          status: { allocation: { devices: { results } } },
        },
        {
          ...resource,
          kind: "ResourceSlice",
          metadata: { name: "w2" },
          spec: { driver, nodeName: "worker-2", pool: { name: "worker-2" }, devices: [{ name: "vf-1", attributes }] },
        },
      ];
      const { out } = await runCli(["plan", "-f", "-", "--node", "worker-2", "-o", "json"], { input });
      expect(JSON.parse(out)).toMatchObject({ pods: { evicted: [{ name: "claimant" }], disrupted: [] } });
    });

    it("names the pods that lose their VFs while drains are disabled", async () => {
      const input = [...cluster, ...pods, config({ disableDrain: true })];
      const { out } = await runCli(["plan", "-f", "-", "--node", "worker-2", "-o", "json"], { input });
      expect(JSON.parse(out)).toMatchObject({ pods: { evicted: [], disrupted: [...disrupted, ...evicted] } });
    });

    it("predicts nothing for a node that an external drainer drains", async () => {
      const external = state("worker-2", 2);
      const annotations = { "sriovnetwork.openshift.io/use-external-drainer": "true" };
      const input = [
        ...[node("worker-1"), node("worker-2"), policy("a", { nodeSelector: {}, numVfs: 4 }), ...pods],
        { ...external, metadata: { ...external.metadata, annotations } },
      ];
      const { out } = await runCli(["plan", "-f", "-", "--node", "worker-2", "-o", "json"], { input });
      expect(JSON.parse(out)).not.toHaveProperty("pods");
    });

    describe("where the daemon reports which pods have VFs", () => {
      /** worker-2, whose two VFs these pods have. */
      const held = (...names: readonly string[]) => {
        const { status, ...rest } = state("worker-2", 2);
        const interfaces = status.interfaces.map((nic) => ({
          ...nic,
          Vfs: [0, 1].map((vfID) => {
            const name = names[vfID];
            const holder = { namespace: "apps", name, via: "device-plugin", resource: "openshift.io/nics", since: "" };
            const vf = {
              vfID,
              pciAddress: `0000:3b:02.${vfID}`,
              name: `v${vfID}`,
              driver: "iavf",
              adminMac: "02:00:00:00:00:01",
            };
            return name === undefined ? vf : { ...vf, holder };
          }),
        }));
        return { ...rest, status: { ...status, interfaces, holders: { known: true } } };
      };
      const input = (numVfs: number, resourceName = "nics") => [
        ...[node("worker-2"), held("plain"), ...pods],
        policy("a", { nodeSelector: {}, numVfs, resourceName }),
      ];

      it("evicts only those, whatever they request, and the node stays schedulable", async () => {
        const { out } = await runCli(["plan", "-f", "-", "--node", "worker-2", "-o", "json"], { input: input(4) });
        expect(JSON.parse(out)).toMatchObject({
          impact: "drain",
          drainedVfs: "0000:3b:00.0",
          pods: { evicted: [{ namespace: "apps", name: "plain" }], disrupted: [] },
        });
        const { out: text } = await runCli(["plan", "-f", "-"], { input: input(4) });
        expect(text).toContain("  Pods: 1 pod is evicted: apps/plain\n        the node stays schedulable\n");
      });

      it("evicts all pods that use VFs if a pool asks for it, or if a pod has AF_XDP devices", async () => {
        const pool = {
          ...{ apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetworkPoolConfig" },
          metadata: { name: "all", namespace: "sriov-network-operator" },
          spec: { drainMode: "node" },
        };
        const xdp = pod("xdp", "worker-2", { containers: [{ resources: { requests: { "afxdp/fast": "1" } } }] });
        for (const other of [pool, xdp]) {
          const { out } = await runCli(["plan", "-f", "-", "--node", "worker-2", "-o", "json"], {
            input: [...input(4), other],
          });
          expect(JSON.parse(out)).toMatchObject({ pods: { disrupted } });
          expect(JSON.parse(out)).not.toHaveProperty("drainedVfs");
        }
      });

      it("names VFs that move to another resource when their pods end", async () => {
        const { out } = await runCli(["plan", "-f", "-"], { input: input(2, "lab2") });
        expect(out).toContain("  … 1 VF of 0000:3b:00.0 moves from nics to lab2 when its pod ends\n");
        const { out: data } = await runCli(["plan", "-f", "-", "--node", "worker-2", "-o", "json"], {
          input: input(2, "lab2"),
        });
        expect(JSON.parse(data)).toMatchObject({ moves: [{ from: "nics", to: "lab2", vfs: [0] }] });
      });
    });

    it("writes names of pods without control characters", async () => {
      const input = [...cluster, pod("a\u001b[2Jb", "worker-2", vf)];
      const { out } = await runCli(["plan", "-f", "-"], { input });
      expect(out).toContain("apps/a?[2Jb");
    });
  });

  it.each([
    { step: "reset the firmware of card 0000:3b:00", event: "the reset of the card", gates: {} },
    {
      step: "reboot for firmware 0000:3b:00 NUM_OF_VFS=32",
      event: "the reboot",
      gates: { mellanoxFirmwareReset: false },
    },
  ])("says which PFs have further steps after $event", async ({ step, event, gates }) => {
    const mellanox = { vendor: "15b3", deviceID: "1017", driver: "mlx5_core", totalvfs: 8 };
    const { status, ...rest } = state("worker-1");
    const interfaces = status.interfaces.map((pf) => ({ ...pf, ...mellanox }));
    const input = [
      ...[node("worker-1"), { ...rest, status: { ...status, interfaces } }],
      ...[policy("a", { numVfs: 32 }), config({ featureGates: gates })],
    ];
    const { out } = await runCli(["plan", "-f", "-"], { input });
    expect(out).toContain(`  ~ ${step}\n  … further steps on 0000:3b:00.0, known after ${event}\n`);
  });

  it("reports a missing node", async () => {
    const unknown = await runCli(["plan", "-f", "-", "--node", "worker-9"], { input: cluster });
    expect(unknown).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining('no plan for node "worker-9"'),
    });
    const nodeless = await runCli(["plan", "-f", "-"], { input: [state("worker-1"), policy("a")] });
    expect(nodeless).toMatchObject({ code: 1, err: expect.stringContaining("lacks the Node worker-1") });
  });
});
