// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { Network } from "./network-ref.ts";
import { networkProblems, renderNetwork, type NetworkContext } from "./render-network.ts";

const context: NetworkContext = { resourcePrefix: "openshift.io" };

function network<Kind extends Network["kind"]>(
  kind: Kind,
  spec: Partial<Extract<Network, { kind: Kind }>["spec"]>,
  metadata: Partial<Network["metadata"]> = {},
) {
  const apiVersion = "sriovnetwork.openshift.io/v1" as const;
  const name = { name: "test", namespace: "sriov-network-operator", ...metadata };
  return { apiVersion, kind, metadata: name, spec: { resourceName: "testresource", ...spec } };
}

/** Returns the CNI configuration as text. */
function configOf(of: Network, more: Partial<NetworkContext> = {}): string {
  const rendered = renderNetwork(of, { ...context, ...more });
  return rendered.ok ? rendered.value.spec.config : JSON.stringify(rendered.error);
}

/** Formats JSON like upstream's operator. */
function layOut(config: unknown): string {
  return JSON.stringify(config, undefined, 4);
}

const vrf = '{\n  "type": "vrf",\n  "vrfname": "red"\n}';

describe("the configuration of a SriovNetwork", () => {
  it("always has vlan and vlanQoS, and an empty ipam", () => {
    expect(configOf(network("SriovNetwork", {}))).toBe(
      layOut({ cniVersion: "1.0.0", name: "test", type: "sriov", vlan: 0, vlanQoS: 0, ipam: {} }),
    );
  });

  it("has upstream's keys in upstream's order", () => {
    const spec = {
      vlan: 100,
      vlanQoS: 5,
      vlanProto: "802.1ad",
      spoofChk: "on",
      trust: "off",
      linkState: "enable",
      minTxRate: 0,
      maxTxRate: 1000,
      capabilities: '{"mac": true}',
      ipam: ' { "type": "host-local", "ranges": [] }\n',
      logLevel: "info",
      logFile: "/tmp/sriov.log",
    } as const;
    expect(configOf(network("SriovNetwork", spec))).toBe(
      layOut({
        cniVersion: "1.0.0",
        name: "test",
        type: "sriov",
        vlan: 100,
        spoofchk: "on",
        trust: "off",
        vlanQoS: 5,
        vlanProto: "802.1ad",
        min_tx_rate: 0,
        max_tx_rate: 1000,
        capabilities: { mac: true },
        link_state: "enable",
        logLevel: "info",
        logFile: "/tmp/sriov.log",
        ipam: { type: "host-local", ranges: [] },
      }),
    );
  });

  it("is a plugin list if there are meta plugins", () => {
    expect(configOf(network("SriovNetwork", { metaPlugins: `${vrf}, {"type": "tuning"}` }))).toBe(
      layOut({
        cniVersion: "1.0.0",
        name: "test",
        plugins: [
          { type: "sriov", vlan: 0, vlanQoS: 0, ipam: {} },
          { type: "vrf", vrfname: "red" },
          { type: "tuning" },
        ],
      }),
    );
  });

  it("treats empty fields as absent", () => {
    const empty = { capabilities: "", ipam: "", metaPlugins: "", logLevel: "", logFile: "" } as const;
    expect(configOf(network("SriovNetwork", empty))).toBe(configOf(network("SriovNetwork", {})));
  });
});

describe("the configuration of a SriovIBNetwork", () => {
  it("has neither VLANs nor log settings", () => {
    const spec = { capabilities: '{"infinibandGUID": true}', linkState: "auto" } as const;
    expect(configOf(network("SriovIBNetwork", spec))).toBe(
      layOut({
        cniVersion: "1.0.0",
        name: "test",
        type: "ib-sriov",
        capabilities: { infinibandGUID: true },
        link_state: "auto",
        ipam: {},
      }),
    );
  });

  it("has the options of ib-sriov that upstream lacks if they are set", () => {
    const asked = { pKey: "0x7fff", rdmaIsolation: true, ibKubernetesEnabled: true };
    const not = { pKey: "", rdmaIsolation: false, ibKubernetesEnabled: false };
    const head = { cniVersion: "1.0.0", name: "test", type: "ib-sriov" };
    expect(configOf(network("SriovIBNetwork", asked))).toBe(
      layOut({ ...head, pkey: "0x7fff", rdmaIsolation: true, ibKubernetesEnabled: true, ipam: {} }),
    );
    expect(configOf(network("SriovIBNetwork", not))).toBe(layOut({ ...head, ipam: {} }));
  });
});

describe("the configuration of an OVSNetwork", () => {
  it("has only the fields that are set", () => {
    const nothing = layOut({ cniVersion: "1.0.0", name: "test", type: "ovs", ipam: {} });
    expect(configOf(network("OVSNetwork", {}))).toBe(nothing);
    expect(configOf(network("OVSNetwork", { vlan: 0, mtu: 0, trunk: [], bridge: "", interfaceType: "" }))).toBe(
      nothing,
    );
  });

  it("has upstream's keys in upstream's order", () => {
    const spec = {
      interfaceType: "netdev",
      trunk: [{ id: 120 }, { maxID: 550, minID: 500 }, { id: 0 }],
      mtu: 1500,
      vlan: 100,
      bridge: "br-0000_d8_00.0",
      capabilities: '{"mac": true}',
      ipam: '{"type": "static"}',
    };
    expect(configOf(network("OVSNetwork", spec))).toBe(
      layOut({
        cniVersion: "1.0.0",
        name: "test",
        type: "ovs",
        capabilities: { mac: true },
        bridge: "br-0000_d8_00.0",
        vlan: 100,
        mtu: 1500,
        trunk: [{ id: 120 }, { minID: 500, maxID: 550 }, { id: 0 }],
        interface_type: "netdev",
        ipam: { type: "static" },
      }),
    );
  });

  it("is a plugin list if there are meta plugins", () => {
    expect(configOf(network("OVSNetwork", { metaPlugins: vrf }))).toBe(
      layOut({
        cniVersion: "1.0.0",
        name: "test",
        plugins: [
          { type: "ovs", ipam: {} },
          { type: "vrf", vrfname: "red" },
        ],
      }),
    );
  });
});

describe("the configuration of a BridgeNetwork", () => {
  it("is for the plugin accelerated-bridge", () => {
    const spec = {
      bridge: "br0, br1",
      vlan: 10,
      mtu: 9000,
      trunk: [{ id: 20 }],
      setUplinkVlan: true,
      capabilities: '{"mac": true}',
      ipam: '{"type": "static"}',
      metaPlugins: vrf,
    };
    const bridges = ["br-0000_3b_00.0"];
    expect(configOf(network("BridgeNetwork", spec), { bridges })).toBe(
      layOut({
        cniVersion: "1.0.0",
        name: "test",
        plugins: [
          {
            type: "accelerated-bridge",
            capabilities: { mac: true },
            bridge: "br0, br1",
            vlan: 10,
            mtu: 9000,
            trunk: [{ id: 20 }],
            setUplinkVlan: true,
            ipam: { type: "static" },
          },
          { type: "vrf", vrfname: "red" },
        ],
      }),
    );
  });

  it("has all candidate bridges if the user sets none, because the plugin would use cni0", () => {
    const bridges = ["br-0000_3b_00.0", "br-0000_3b_00.1"];
    const head = { cniVersion: "1.0.0", name: "test", type: "accelerated-bridge" };
    expect(configOf(network("BridgeNetwork", {}), { bridges })).toBe(
      layOut({ ...head, bridge: "br-0000_3b_00.0,br-0000_3b_00.1", ipam: {} }),
    );
  });

  it("is rejected if there is no bridge", () => {
    const rendered = renderNetwork(network("BridgeNetwork", { ipam: "x" }), context);
    expect(rendered).toMatchObject({
      error: [
        { code: "bad-json", field: "spec.ipam" },
        { code: "no-bridge", field: "spec.bridge" },
      ],
    });
  });

  it("has only options that accelerated-bridge-cni documents, with the types that it reads (cnis.md 2.1)", () => {
    const integer = (value: unknown) => Number.isInteger(value);
    const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
      typeof value === "object" && value !== null && !Array.isArray(value);
    const isRange = (range: unknown) =>
      isObject(range) &&
      Object.entries(range).every(
        ([key, id]) => ["id", "minID", "maxID"].includes(key) && Number(id) >= 1 && Number(id) <= 4094,
      );
    const documented: Readonly<Record<string, (value: unknown) => boolean>> = {
      cniVersion: (value) => value === "1.0.0",
      name: (value) => value === "test",
      type: (value) => value === "accelerated-bridge",
      ipam: isObject,
      capabilities: isObject,
      bridge: (value) => typeof value === "string" && value.split(",").every((name) => name.trim() !== ""),
      vlan: (value) => integer(value) && Number(value) >= 1 && Number(value) <= 4094,
      mtu: integer,
      setUplinkVlan: (value) => typeof value === "boolean",
      trunk: (value) => Array.isArray(value) && value.every(isRange),
    };
    const ids = fc.integer({ min: 1, max: 4094 });
    const specs = fc.record(
      {
        bridge: fc.constantFrom("br0", "br0, br1"),
        vlan: fc.integer({ min: 0, max: 4094 }),
        mtu: fc.integer({ min: 0, max: 65_535 }),
        trunk: fc.array(fc.oneof(fc.record({ id: ids }), fc.record({ minID: ids, maxID: ids })), { maxLength: 3 }),
        setUplinkVlan: fc.boolean(),
        capabilities: fc.constantFrom("", '{"mac": true}'),
        ipam: fc.constantFrom("", '{"type": "static"}'),
      },
      { requiredKeys: ["bridge"] },
    );
    fc.assert(
      fc.property(specs, (spec) => {
        const config: unknown = JSON.parse(configOf(network("BridgeNetwork", spec)));
        const options = Object.entries(isObject(config) ? config : {});
        expect(options.length).toBeGreaterThan(3);
        expect(options.filter(([key, value]) => documented[key]?.(value) !== true)).toEqual([]);
      }),
    );
  });
});

describe("the NetworkAttachmentDefinition", () => {
  it("has annotations with its resource and its network", () => {
    const of = network("OVSNetwork", { networkNamespace: "tenant-a" }, { uid: "u-1" });
    expect(renderNetwork(of, context)).toMatchObject({
      value: {
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata: {
          name: "test",
          namespace: "tenant-a",
          annotations: {
            "k8s.v1.cni.cncf.io/resourceName": "openshift.io/testresource",
            "sriovnetwork.openshift.io/owner-ref": "OVSNetwork.sriovnetwork.openshift.io/sriov-network-operator/test",
          },
        },
      },
    });
  });

  it("is owned by its network only in the same namespace", () => {
    const owner = { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetwork", name: "test", uid: "u-1" };
    const here = renderNetwork(network("SriovNetwork", {}, { uid: "u-1" }), context);
    expect(here.ok && here.value.metadata).toMatchObject({
      namespace: "sriov-network-operator",
      ownerReferences: [owner],
    });
    const there = renderNetwork(network("SriovNetwork", { networkNamespace: "tenant-a" }, { uid: "u-1" }), context);
    expect(there.ok && there.value.metadata).not.toHaveProperty("ownerReferences");
  });
});

describe("JSON fields", () => {
  it("keep blanks, quotes, line breaks and long numbers (sriov-operator.md M-16)", () => {
    const ipam = `{ "a b": "it's  two blanks\\n\\t\\"quoted\\"", "id": 18446744073709551615, "$(rm -rf /)": "'; --" }`;
    const config = configOf(network("SriovNetwork", { ipam }));
    expect(config).toContain('"id": 18446744073709551615');
    expect(JSON.parse(config)).toMatchObject({
      ipam: { "a b": 'it\'s  two blanks\n\t"quoted"', "$(rm -rf /)": "'; --" },
    });
  });

  it("are rejected with the positions of all errors", () => {
    const of = network("SriovNetwork", {
      capabilities: "foo",
      ipam: '{\n  "type": "static",\n  "addresses": [{ "address": 10.0.0.1 }]\n}',
      metaPlugins: '{"type": "tuning"}, {"name": "x"}',
    });
    expect(renderNetwork(of, context)).toEqual({
      ok: false,
      error: [
        {
          code: "bad-json",
          field: "spec.capabilities",
          message: "invalid JSON at line 1, column 1: expected an object: {…}",
          at: expect.objectContaining({ offset: 0 }),
        },
        {
          code: "bad-json",
          field: "spec.ipam",
          message: "invalid JSON at line 3, column 30 (in addresses[0].address): expected a value",
          at: expect.objectContaining({ line: 3, column: 30, path: "addresses[0].address" }),
        },
        {
          code: "no-plugin-type",
          field: "spec.metaPlugins",
          message: 'plugin 2 has no type: add one, such as {"type": "tuning"}',
        },
      ],
    });
  });

  it("are rejected with short messages for any number of errors", () => {
    const ipam = `{"${"x".repeat(100_000)}": nothing}`;
    const metaPlugins = Array.from({ length: 10_000 }, () => "{}").join(",");
    const rendered = renderNetwork(network("SriovNetwork", { ipam, metaPlugins }), context);
    const messages = rendered.ok ? [] : rendered.error.map(({ message }) => message);
    expect(messages).toEqual([
      `invalid JSON at line 1, column 100006 (in ${"x".repeat(100)}...): expected a value`,
      'plugin 1 has no type: add one, such as {"type": "tuning"}',
      'plugin 2 has no type: add one, such as {"type": "tuning"}',
      'plugin 3 has no type: add one, such as {"type": "tuning"}',
      '9997 more plugins have no type: add one, such as {"type": "tuning"}',
    ]);
  });

  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "'",
      '"',
      "\\",
      '",\n"type":"evil',
      "{{ .X }}",
      "__proto__",
      "\u0000",
      "%s",
      "$(id)",
      "\ud800",
      "</script>",
    ),
  );

  it("are copied to the configuration unchanged for any content", () => {
    const survive = fc.property(hostile, hostile, fc.dictionary(hostile, fc.jsonValue()), (name, text, ipam) => {
      const of = network("OVSNetwork", { bridge: text, interfaceType: text, ipam: JSON.stringify(ipam) }, { name });
      const parsed: unknown = JSON.parse(JSON.stringify(ipam));
      const written = { name, ...(text && { bridge: text, interface_type: text }), ipam: parsed };
      expect(JSON.parse(configOf(of))).toEqual({ cniVersion: "1.0.0", type: "ovs", ...written });
    });
    fc.assert(survive);
  });

  it("add nothing to the configuration besides their own key", () => {
    const pieces = fc.constantFrom(
      '"',
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      " ",
      '"a"',
      '{"type":"x"}',
      "1",
      "\n",
      "\\",
      "evil",
    );
    const soup = fc.array(pieces).map((parts) => parts.join(""));
    const safe = fc.property(soup, soup, soup, (capabilities, ipam, metaPlugins) => {
      const rendered = renderNetwork(network("SriovIBNetwork", { capabilities, ipam, metaPlugins }), context);
      if (!rendered.ok) return;
      const config: unknown = JSON.parse(rendered.value.spec.config);
      const chained = { cniVersion: "1.0.0", name: "test", plugins: expect.arrayContaining([expect.anything()]) };
      const alone = { cniVersion: "1.0.0", name: "test", type: "ib-sriov", ipam: expect.any(Object) };
      const given = capabilities === "" ? {} : { capabilities: expect.any(Object) };
      expect(config).toEqual(metaPlugins === "" ? { ...alone, ...given } : chained);
    });
    fc.assert(safe, { numRuns: 1000 });
  });
});

describe("the size of the configuration", () => {
  /** The worst case that the CRD allows: 128 KiB each, with as many and as deeply nested values as possible. */
  const deep = `{"type": "x", "a": ${"[".repeat(97)}${Array.from({ length: 65_000 }, () => 1).join(",")}${"]".repeat(97)}}`;

  it("is that of the content, not of the indented text with 100 levels (45 MB)", () => {
    const config = configOf(network("SriovNetwork", { ipam: deep, metaPlugins: deep }));
    expect(config.length).toBeLessThan(2 * deep.length + 200);
    expect(JSON.parse(config)).toMatchObject({ plugins: [{ ipam: JSON.parse(deep) as object }, JSON.parse(deep)] });
  });

  it("keeps upstream's indentation up to 64 KiB", () => {
    const ipam = { type: "static", addresses: Array.from({ length: 500 }, (_, i) => ({ address: `10.0.${i}.1/24` })) };
    const config = configOf(network("SriovNetwork", { ipam: JSON.stringify(ipam) }));
    expect(config).toBe(layOut({ cniVersion: "1.0.0", name: "test", type: "sriov", vlan: 0, vlanQoS: 0, ipam }));
  });

  it.each([
    { what: "JSON fields", spec: { ipam: `{"a": "${"é".repeat(300_000)}"}` }, field: "spec", kib: 587 },
    { what: "a field that is not parsed", spec: { ipam: "x".repeat(600_000) }, field: "spec.ipam", kib: 586 },
    { what: "another field", spec: { logFile: "x".repeat(600_000) }, field: "spec", kib: 587 },
  ])("is limited: $what", ({ spec, field, kib }) => {
    const of = network("SriovNetwork", spec);
    const problem = {
      code: "too-large",
      field,
      message: `results in a CNI configuration of ${kib} KiB; the limit is 512 KiB`,
    };
    expect(renderNetwork(of, context)).toEqual({ ok: false, error: [problem] });
    expect(networkProblems(of)).toEqual([problem]);
  });
});
