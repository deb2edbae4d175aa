// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { network, node, policy, state } from "../testing/objects.ts";
import { runCli } from "../testing/run-cli.ts";

const cluster = [node("worker-1"), state("worker-1"), policy("first", { nicSelector: { pfNames: ["ens1f0#0-1"] } })];

async function validate(input: readonly unknown[], existing: readonly unknown[] = [], ...flags: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-cli-"));
  try {
    const file = join(folder, "existing.json");
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: existing }));
    const argv = ["validate", "-f", "-", "--existing", file, "-o", "json", ...flags];
    const { code, out, err } = await runCli(argv, { input });
    const answers: unknown = JSON.parse(out);
    return { code, err, answers };
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("switchyard validate", () => {
  it("answers for each object that the webhook knows, in the order of the input", async () => {
    const { code, answers } = await validate([network("net"), ...cluster]);
    expect(code).toBe(0);
    expect(answers).toMatchObject([
      { name: "net", allowed: true },
      { name: "first", allowed: true },
    ]);
  });

  it("reports a misspelt kind, version and group, and an input without anything to check", async () => {
    const misspelt = { ...policy("a"), kind: "SriovNetworkNodePolcy" };
    const { code, err } = await validate([misspelt, policy("b")]);
    expect(code).toBe(1);
    expect(err).toContain('kind: "SriovNetworkNodePolcy" does not exist: did you mean kind SriovNetworkNodePolicy of');
    const nothing = await validate([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }]);
    expect(nothing.code).toBe(1);
    expect(nothing.err).toContain("nothing to check: the input has no object of a kind of Switchyard");
  });

  it("says that kubectl needs a namespace for objects without one", async () => {
    const { namespace: _, ...metadata } = policy("b").metadata;
    const { answers } = await validate([policy("a"), { ...policy("b"), metadata }]);
    expect(answers).toMatchObject([
      { name: "a" },
      { name: "b", hints: [expect.stringContaining("metadata.namespace is missing")] },
    ]);
    expect(answers).not.toMatchObject([{ hints: expect.any(Array) }, {}]);
  });

  it("prints the object with its defaults", async () => {
    const { answers } = await validate([policy("a")]);
    expect(answers).toEqual([
      {
        apiVersion: "sriovnetwork.openshift.io/v1",
        kind: "SriovNetworkNodePolicy",
        namespace: "sriov-network-operator",
        name: "a",
        operation: "CREATE",
        allowed: true,
        code: 200,
        message: "",
        warnings: expect.any(Array),
        patched: policy("a", { deviceType: "netdevice", priority: 99, isRdma: false }),
      },
    ]);
  });

  it("refuses by the CRD with the message of the API server", async () => {
    const { code, answers } = await validate([policy("a", { numVfs: 70_000 })]);
    expect(code).toBe(1);
    const message =
      'SriovNetworkNodePolicy.sriovnetwork.openshift.io "a" is invalid: ' +
      "spec.numVfs: Invalid value: 70000: spec.numVfs in body should be less than or equal to 65535";
    expect(answers).toMatchObject([{ allowed: false, code: 422, message }]);
  });

  it("refuses a BridgeNetwork with a VLAN whose policy creates a bridge that does not filter, also in the same input", async () => {
    const head = { apiVersion: "sriovnetwork.openshift.io/v1", metadata: { name: "vlan100", namespace: "default" } };
    const vlan100 = { ...head, kind: "BridgeNetwork", spec: { resourceName: "lin", vlan: 100 } };
    const lin = (linux: object) => policy("lin", { resourceName: "lin", eSwitchMode: "switchdev", bridge: { linux } });
    for (const input of [
      [vlan100, lin({})],
      [lin({}), vlan100],
    ]) {
      const { code, answers } = await validate([...cluster.slice(0, 2), ...input]);
      expect(code).toBe(1);
      expect(answers).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            kind: "BridgeNetwork",
            allowed: false,
            message: expect.stringContaining("set spec.bridge.linux.bridge.vlanFiltering to true"),
          }),
        ]),
      );
    }
    const filtering = lin({ bridge: { vlanFiltering: true } });
    expect((await validate([...cluster.slice(0, 2), vlan100, filtering])).code).toBe(0);
  });

  it("reports values that are missing in a selector, with file and line, although the server admits the object", async () => {
    const text = [
      "apiVersion: sriovnetwork.openshift.io/v1",
      "kind: SriovNetworkNodePolicy",
      "metadata: {name: gpu}",
      "spec:",
      "  nodeSelector:",
      "    example.com/gpu-rack:",
      "  resourceName: gpu",
      "  numVfs: 2",
      "  nicSelector: {pfNames: [ens1f0]}",
      "",
    ].join("\n");
    const { code, err, out } = await runCli(["validate", "-f", "-"], { input: text });
    expect(err).toBe(
      "-:6: SriovNetworkNodePolicy/sriov-network-operator/gpu: spec.nodeSelector.example.com/gpu-rack: has no value, so " +
        'the API server removes it and the selector selects more: write a value ("" is the empty one), or delete the field\n',
    );
    expect(code).toBe(1);
    expect(out).toContain("Warning: spec.nodeSelector is empty: all nodes of the node set are selected");
  });

  it("notes values that are missing elsewhere, which the server replaces by the default", async () => {
    const { code, err } = await validate([policy("a", { mtu: null })]);
    expect(err).toBe(
      "-:1: SriovNetworkNodePolicy/sriov-network-operator/a: spec.mtu: has no value, so the API server removes it and the " +
        "default applies\n",
    );
    expect(code).toBe(0);
  });

  it("refuses unknown fields, as the server does for kubectl", async () => {
    const { answers } = await validate([policy("a", { numVFs: 8 })]);
    expect(answers).toMatchObject([{ code: 400, message: expect.stringContaining('unknown field "spec.numVFs"') }]);
  });

  it("refuses by the webhook's rules a conflict with an existing object", async () => {
    const second = policy("second", { nicSelector: { pfNames: ["ens1f0#1-2"] }, resourceName: "other" });
    const { code, answers } = await validate([second], cluster);
    expect(code).toBe(1);
    expect(answers).toMatchObject([{ name: "second", allowed: false, code: 403 }]);
  });

  it("checks each object beside all the others", async () => {
    const second = policy("second", { nicSelector: { pfNames: ["ens1f0#1-2"] }, resourceName: "other" });
    const { answers } = await validate([...cluster, second]);
    expect(answers).toMatchObject([
      { name: "first", allowed: false },
      { name: "second", allowed: false },
    ]);
  });

  it("ignores other objects that their CRD refuses", async () => {
    const second = policy("second", { nicSelector: { pfNames: ["ens1f0#1-2"] }, numVfs: -1 });
    const { answers } = await validate([...cluster, second]);
    expect(answers).toMatchObject([
      { name: "first", allowed: true },
      { name: "second", code: 422 },
    ]);
  });

  it("takes the old object of an update from the existing objects", async () => {
    const old = policy("first", { nicSelector: { vendor: "INTEL" } });
    const update = policy("first", { nicSelector: { vendor: "INTEL" }, numVfs: 5 });
    const { answers } = await validate([update, network("new")], [old], "--operation", "UPDATE");
    expect(answers).toMatchObject([
      { operation: "UPDATE", allowed: true },
      { code: 404, message: 'sriovnetworks.sriovnetwork.openshift.io "new" not found' },
    ]);
  });

  it("fills the defaults into existing objects, except for those with a uid", async () => {
    const { answers } = await validate([policy("a", { mtu: 1400 })], [policy("a")], "--operation", "UPDATE");
    expect(answers).toMatchObject([{ allowed: true, patched: { spec: { priority: 99, isRdma: false } } }]);
    const stored = { ...policy("a"), metadata: { ...policy("a").metadata, uid: "5e3c" } };
    const kept = await validate([policy("a", { mtu: 1400 })], [stored], "--operation", "UPDATE");
    expect(kept.answers).toMatchObject([{ allowed: true }]);
    expect(kept.answers).not.toHaveProperty("0.patched.spec.priority");
  });

  it("treats other policies without a priority as the weakest ones", async () => {
    const general = policy("z-general", { nicSelector: { vendor: "8086" }, resourceName: "general" });
    const special = policy("special", { nicSelector: { pfNames: ["ens1f0#0-1"] }, priority: 10 });
    const { answers } = await validate([special], [...cluster.slice(0, 2), general]);
    const warning = expect.stringContaining("this policy (VFs 0-1, priority 10) takes precedence");
    expect(answers).toMatchObject([{ allowed: true, warnings: expect.arrayContaining([warning]) }]);
  });

  describe("with several objects", () => {
    const [general, special] = ["z-general", "special"].map((name) => (priority?: number) => {
      const pfNames = name === "special" ? ["ens1f0#0-1"] : undefined;
      const nicSelector = pfNames === undefined ? { vendor: "8086" } : { pfNames };
      return policy(name, { nicSelector, resourceName: name, ...(priority !== undefined && { priority }) });
    });
    if (general === undefined || special === undefined) throw new TypeError("two policies");
    const nodes = cluster.slice(0, 2);
    const precedence = "policy special (VFs 0-1, priority 10) takes precedence";

    it("updates the others as well: an omitted priority keeps the stored one", async () => {
      const existing = [...nodes, general(20), special(10)];
      const { answers } = await validate([general(), special()], existing, "--operation", "UPDATE");
      expect(answers).toMatchObject([
        {
          name: "z-general",
          allowed: true,
          patched: { spec: { priority: 20 } },
          warnings: expect.arrayContaining([expect.stringContaining(precedence)]),
        },
        { name: "special", allowed: true, patched: { spec: { priority: 10 } } },
      ]);
    });

    it("deletes one while the others are as they are stored", async () => {
      const existing = [...nodes, general(20), special(10)];
      const weak = special(99); // the file differs from the stored object
      const { answers } = await validate([general(), weak], existing, "--operation", "DELETE");
      // Deleting the weaker policy changes nothing as long as the stronger one is there.
      expect(answers).toMatchObject([
        { name: "z-general", allowed: true, warnings: [] },
        { name: "special", allowed: true },
      ]);
    });
  });

  it.each(["..", ".", "a/b", "Tenant", "a".repeat(64)])(
    "refuses a networkNamespace that is not the name of a namespace: %s",
    async (networkNamespace) => {
      const { answers } = await validate([network("net", { networkNamespace })]);
      expect(answers).toMatchObject([
        { allowed: false, code: 422, message: expect.stringContaining("spec.networkNamespace: ") },
      ]);
    },
  );

  it("warns about the impact of a deletion", async () => {
    const busy = [node("worker-1"), { ...state("worker-1", 4), spec: {} }, policy("first")];
    const { answers } = await validate([policy("first")], busy, "--operation", "DELETE");
    expect(answers).toEqual([
      expect.objectContaining({ operation: "DELETE", allowed: true, warnings: expect.any(Array) }),
    ]);
  });

  it("counts the pods that use the VFs, if the input has pods", async () => {
    const pod = (name: string, resource: string) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "tenant" },
      spec: { nodeName: "worker-1", containers: [{ name: "main", resources: { limits: { [resource]: "1" } } }] },
    });
    const busy = [node("worker-1"), state("worker-1", 4), policy("first")];
    const change = policy("first", { numVfs: 8 });
    const answersWith = async (pods: readonly object[], ...more: readonly string[]) =>
      (await validate([change], [...busy, ...pods], "--operation", "UPDATE", ...more)).answers;
    const words = "reconfigures 0000:3b:00.0 (4 -> 8 VFs) on worker-1: drains worker-1";
    expect(await answersWith([])).toMatchObject([{ warnings: [words] }]);
    const pods = [pod("a", "openshift.io/nics"), pod("b", "openshift.io/other"), pod("c", "example.com/nics")];
    expect(await answersWith(pods)).toMatchObject([{ warnings: [`${words}; 1 pod uses these VFs`] }]);
    expect(await answersWith(pods, "--resource-prefix", "example.com")).toMatchObject([
      { warnings: [`${words}; 1 pod uses these VFs`] },
    ]);
    expect(await answersWith(pods.slice(1, 2))).toMatchObject([{ warnings: [`${words}; no pods use these VFs`] }]);
  });

  it("counts the pods with allocated VFs of the PF", async () => {
    const metadata = { name: "nic", namespace: "tenant" };
    const results = [{ request: "nic", driver: "nics.example.com", pool: "worker-1", device: "vf-0" }];
    const attributes = { "resource.kubernetes.io/pciBusID": { string: "0000:3b:00.0" } };
    const allocated = [
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "a", namespace: "tenant" },
        spec: { nodeName: "worker-1", resourceClaims: [{ name: "nic", resourceClaimName: "nic" }] },
      },
      {
        apiVersion: "resource.k8s.io/v1",
        kind: "ResourceClaim",
        metadata,
        status: { allocation: { devices: { results } } },
      },
      {
        apiVersion: "resource.k8s.io/v1",
        kind: "ResourceSlice",
        metadata: { name: "slice" },
        spec: {
          driver: "nics.example.com",
          nodeName: "worker-1",
          pool: { name: "worker-1" },
          devices: [{ name: "vf-0", attributes }],
        },
      },
    ];
    const busy = [node("worker-1"), state("worker-1", 4), policy("first")];
    const change = policy("first", { numVfs: 8 });
    const { answers } = await validate([change], [...busy, ...allocated], "--operation", "UPDATE");
    expect(answers).toMatchObject([{ warnings: [expect.stringMatching(/; 1 pod uses these VFs$/)] }]);
  });

  it("prints text of at most 80 columns", async () => {
    const { out } = await runCli(["validate", "-f", "-"], { input: [policy("a", { numVfs: 70_000 }), network("net")] });
    expect(out).toMatch(/^SriovNetworkNodePolicy\/sriov-network-operator\/a: rejected \(422\)\n {2}\* spec\.numVfs: /);
    expect(out).toContain("SriovNetwork/sriov-network-operator/net: allowed\n");
    expect(out).toMatch(/\n\n1 allowed, 1 rejected\.\n$/);
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("says how to write a text whose quotes are missing", async () => {
    const ipam = { type: "host-local", subnet: "10.56.0.0/16" };
    const { code, out } = await runCli(["validate", "-f", "-"], { input: [network("net", { ipam })] });
    expect(code).toBe(1);
    const text = out.replaceAll(/\s+/g, " ");
    expect(text).toContain(
      'spec.ipam is a text: write its JSON in single quotes, as in ipam: \'{"type": "host-local"}\'',
    );
  });

  it("deletes several policies one after the other, so the last one announces the drain", async () => {
    const first = policy("first", { nicSelector: { pfNames: ["ens1f0#0-1"] }, numVfs: 4, resourceName: "a" });
    const second = policy("second", { nicSelector: { pfNames: ["ens1f0#2-3"] }, numVfs: 4, resourceName: "b" });
    const used = state("worker-1", 4);
    const interfaces = used.status.interfaces.map((nic) => ({ ...nic, owned: true }));
    const vfGroups = [
      { resourceName: "a", policyName: "first", vfRange: "0-1" },
      { resourceName: "b", policyName: "second", vfRange: "2-3" },
    ];
    const spec = { interfaces: [{ pciAddress: "0000:3b:00.0", name: "ens1f0", numVfs: 4, vfGroups }] };
    const cluster = [node("worker-1"), { ...used, spec, status: { ...used.status, interfaces } }, first, second];
    const { out } = await runCli(["validate", "-f", "-", "--operation", "DELETE"], { input: cluster });
    const [, before = "", after = ""] = out.split(/SriovNetworkNodePolicy\/[^:]*: allowed/);
    expect(before).not.toContain("drains");
    expect(after.replaceAll(/\s+/g, " ")).toContain("drains worker-1");
  });
});
