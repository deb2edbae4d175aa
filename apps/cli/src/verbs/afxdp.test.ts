// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { node, policy, state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

const apiVersion = "afxdpnetwork.hns.dev/v1alpha1";
const namespace = "sriov-network-operator";
const afxdpPolicy = (name: string, spec: object) => ({
  apiVersion,
  kind: "AfxdpNetworkNodePolicy",
  metadata: { name, namespace },
  spec: { poolName: "fast", nodeSelector: {}, nicSelector: { pfNames: ["ens2f0"] }, ...spec },
});
const device = { pciAddress: "0000:5e:00.0", name: "ens2f0", driver: "ice", maxSfs: 64 };
const afxdpState = {
  apiVersion,
  kind: "AfxdpNetworkNodeState",
  metadata: { name: "worker-1", namespace },
  status: { interfaces: [{ pciAddress: "0000:3b:00.0", name: "ens1f0", driver: "ice" }, device] },
};
const network = {
  apiVersion,
  kind: "AfxdpNetwork",
  metadata: { name: "net", namespace },
  spec: { poolName: "fast", ipam: '{"type": "host-local", "subnet": "10.56.0.0/16"}' },
};
const cluster = [node("worker-1"), state("worker-1"), policy("sriov"), afxdpState, network];
const run = (argv: readonly string[], input: readonly unknown[]) =>
  runCli([...argv, "-f", "-", "-o", "json"], { input });

describe("switchyard nics, with node states,", () => {
  const withXdp = { ...device, xdp: { native: true, zeroCopy: true }, queues: 8, maxQueues: 64 };
  const used = {
    pciAddress: "0000:01:00.0",
    name: "eth0",
    driver: "virtio_net",
    usedBy: ["default route"],
    xdp: { native: true, zeroCopy: false },
  };
  const old = { name: "veth10", driver: "veth\u001b[31m" };
  const state = { ...afxdpState, status: { interfaces: [used, withXdp, old] } };

  it("says which NICs have native XDP and work without copying, and why one cannot be used", async () => {
    const { code, out } = await runCli(["nics", "-f", "-"], { input: [state] });
    expect([code, out.split("\n").map((line) => line.split(/ {2,}/))]).toEqual([
      0,
      [
        ["NODE", "NIC", "ADDRESS", "DRIVER", "NATIVE XDP", "ZERO COPY", "QUEUES", "SFS", "USED BY"],
        ["worker-1", "eth0", "0000:01:00.0", "virtio_net", "yes", "no", "-", "-", "default route"],
        ["worker-1", "ens2f0", "0000:5e:00.0", "ice", "yes", "yes", "64", "64", "-"],
        ["worker-1", "veth10", "-", expect.stringMatching(/^veth[^\u001b]*$/), "-", "-", "-", "-", "-"],
        [""],
      ],
    ]);
  });

  it("prints them as data, of one node", async () => {
    const { out } = await run(["nics", "--node", "worker-1"], [state]);
    expect(JSON.parse(out)).toMatchObject({
      nics: [{ zeroCopy: false }, { node: "worker-1", name: "ens2f0", nativeXdp: true, zeroCopy: true }, {}],
    });
    expect(JSON.parse((await run(["nics", "--node", "worker-2"], [state])).out)).toEqual({ nics: [] });
    expect((await runCli(["nics", "-f", "-"], { input: [node("worker-1")] })).out).toBe(
      "No node has reported a NIC.\n",
    );
  });
});

describe("switchyard render, for AF_XDP,", () => {
  it("prints node states and networks", async () => {
    const only = ["render", "--only", "AfxdpNetworkNodeState,NetworkAttachmentDefinition"];
    const { code, out, err } = await run(only, [...cluster, afxdpPolicy("a", { numSfs: 4, uid: 1500 })]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out)).toMatchObject({
      items: [
        {
          apiVersion,
          kind: "AfxdpNetworkNodeState",
          metadata: { name: "worker-1", namespace },
          spec: {
            interfaces: [
              { pciAddress: "0000:5e:00.0", name: "ens2f0", mode: "subfunction", poolName: "fast", numSfs: 4 },
            ],
            pools: [{ name: "fast", mode: "subfunction", udsServer: true, uid: 1500 }],
          },
        },
        {
          kind: "NetworkAttachmentDefinition",
          metadata: { name: "net", annotations: { "k8s.v1.cni.cncf.io/resourceName": "afxdp/fast" } },
        },
      ],
    });
  });

  it("prints the objects by which bpfman loads programs, with loader bpfman", async () => {
    const config = (spec: object) => ({
      apiVersion,
      kind: "AfxdpOperatorConfig",
      metadata: { name: "default", namespace },
      spec,
    });
    const only = ["render", "--only", "ClusterBpfApplication"];
    const given = [...cluster, afxdpPolicy("a", {})];
    const { out } = await run(only, [...given, config({ loader: "bpfman", bpfman: { priority: 50 } })]);
    expect(JSON.parse(out)).toMatchObject({
      items: [
        {
          apiVersion: "bpfman.io/v1alpha1",
          metadata: { annotations: { "switchyard.io/afxdp-device": "0000:5e:00.0" } },
          spec: {
            nodeSelector: { matchLabels: { "kubernetes.io/hostname": "worker-1" } },
            programs: [{ xdp: { links: [{ interfaceSelector: { interfaces: ["ens2f0"] }, priority: 50 }] } }],
          },
        },
      ],
    });
    expect(JSON.parse((await run(only, [...given, config({})])).out)).toMatchObject({ items: [] });
  });

  it("reports a device that SR-IOV policies use, and goes on", async () => {
    const bad = afxdpPolicy("bad", { poolName: "other", nicSelector: { pfNames: ["ens1f0"] } });
    const { code, out, err } = await run(["render"], [...cluster, afxdpPolicy("a", {}), bad]);
    expect(code).toBe(1);
    expect(err).toBe(
      `AfxdpNetworkNodePolicy/${namespace}/bad: node worker-1: spec.nicSelector.pfNames[0]: ` +
        "ens1f0 (0000:3b:00.0) is not offered: SR-IOV policies select it\n",
    );
    expect(out).toContain('"ens2f0"');
  });

  it("prints the configuration of the device plugin of each node with provider upstream, and its DaemonSet", async () => {
    const config = {
      apiVersion,
      kind: "AfxdpOperatorConfig",
      metadata: { name: "default", namespace },
      spec: { provider: "upstream", logLevel: 2 },
    };
    const input = [...cluster, config, afxdpPolicy("a", { uid: 1500 })];
    const { code, out, err } = await run(["render", "--only", "ConfigMap"], input);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const { items } = JSON.parse(out) as { items: { metadata: { name: string }; data: Record<string, string> }[] };
    const found = items.find(({ metadata }) => metadata.name === "afxdp-plugins-config");
    expect(JSON.parse(found?.data["worker-1"] ?? "")).toEqual({
      logLevel: "debug",
      pools: [{ name: "fast", mode: "primary", devices: [{ name: "ens2f0" }], uid: 1500 }],
    });
    const deployed = await run(["render", "--manifests", "--only", "DaemonSet"], input);
    expect(deployed.err).toBe("");
    expect(deployed.out).toContain('"afxdp-plugins"');
    expect(deployed.out).not.toContain('"afxdp-device-plugin"');
  });

  it("has no AF_XDP states in a cluster without AF_XDP policies", async () => {
    expect((await run(["render"], cluster)).out).not.toContain("AfxdpNetworkNodeState");
  });

  it("names the version if it is misspelt as in the proposal", async () => {
    const misspelt = { ...network, apiVersion: "afxdpnetwork.hns.dev/v1aplha1" };
    const { code, err } = await run(["render"], [misspelt]);
    expect(code).toBe(1);
    expect(err).toContain(
      'apiVersion: "afxdpnetwork.hns.dev/v1aplha1" does not exist: use "afxdpnetwork.hns.dev/v1alpha1"',
    );
  });
});

describe("switchyard validate, for AF_XDP,", () => {
  it("answers as the API server and the webhook", async () => {
    const given = [
      afxdpPolicy("good", {}),
      afxdpPolicy("pci", { deviceType: "vfio-pci" }),
      afxdpPolicy("many", { numSfs: 65, poolName: "many" }),
      { apiVersion, kind: "AfxdpOperatorConfig", metadata: { name: "other", namespace } },
    ];
    const { out } = await run(["validate"], [node("worker-1"), afxdpState, ...given]);
    expect(JSON.parse(out)).toMatchObject([
      { name: "good", allowed: true, patched: { spec: { priority: 99, udsServer: true, uid: 0 } } },
      { name: "pci", allowed: false, code: 422, message: expect.stringContaining("vfio-pci has none") as unknown },
      { name: "many", allowed: false, code: 403, message: expect.stringContaining("at most 64") as unknown },
      { name: "other", allowed: false, code: 403, message: expect.stringContaining('must be "default"') as unknown },
    ]);
  });
});

describe("switchyard plan, for AF_XDP,", () => {
  const sf = { state: "active", driver: "ice.sf", owned: true, mtu: 1500 };
  const stateWith = (more: object) => ({ ...afxdpState, status: { interfaces: [{ ...device, ...more }] } });

  it("prints the steps of the devices", async () => {
    const { code, out } = await run(
      ["plan"],
      [node("worker-1"), stateWith({ eSwitchMode: "legacy" }), afxdpPolicy("a", { numSfs: 1, mtu: 9000 })],
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      nodes: [
        {
          node: "worker-1",
          impact: "none",
          converged: false,
          steps: [
            { kind: "set-eswitch-mode", device: "0000:5e:00.0", text: expect.any(String) as unknown },
            { text: "create subfunction 0 of 0000:5e:00.0" },
            { text: "set mac on subfunction 0 of 0000:5e:00.0" },
            { text: "activate subfunction 0 of 0000:5e:00.0" },
            { text: "set representor up with mtu 9000 of subfunction 0 of 0000:5e:00.0" },
            { text: "set mtu 9000 on subfunction 0 of 0000:5e:00.0" },
          ],
        },
      ],
    });
  });

  it("prints why a node is drained", async () => {
    const held = stateWith({ owned: true, subfunctions: [{ ...sf, sfNumber: 0 }] });
    const { out } = await runCli(["plan", "-f", "-"], {
      input: [node("worker-1"), held, afxdpPolicy("a", { numSfs: 0, mode: "primary" })],
    });
    expect(out).toContain("Impact: drain, because of");
    expect(out).toContain("removing subfunctions takes them away from pods");
  });

  it("reports what a device cannot have", async () => {
    const { code, err } = await run(["plan"], [node("worker-1"), afxdpState, afxdpPolicy("a", { numSfs: 65 })]);
    expect(code).toBe(1);
    expect(err).toContain("spec.interfaces[0].numSfs: 65 subfunctions requested, but 0000:5e:00.0 supports at most 64");
  });

  it("plans node states without policies", async () => {
    const spec = { interfaces: [], unselected: ["0000:5e:00.0"] };
    const { out } = await run(["plan"], [{ ...stateWith({ owned: true }), spec }]);
    expect(JSON.parse(out)).toMatchObject({ nodes: [{ steps: [{ kind: "release-device" }] }] });
  });
});

describe("switchyard explain, for AF_XDP,", () => {
  it("prints fields with the version of their kind", async () => {
    const { code, out } = await runCli(["explain", "afxdpnetworknodepolicy.spec.numSfs"]);
    expect(code).toBe(0);
    expect(out).toContain(`VERSION:  ${apiVersion}`);
    expect(out).toContain("FIELD: numSfs <integer>");
  });
});
