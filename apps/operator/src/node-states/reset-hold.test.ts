// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { afxdpNetworkNodePolicies, sriovNetworkNodePolicies, type AfxdpMode } from "@switchyard/api";
import { KubeError, type TransportRequest } from "@switchyard/kube";
import { afxdpGrants, createResetHold, losesAll, sriovGrants, wereLostTogether } from "./reset-hold.ts";

const never = new AbortController().signal;
const noon = Date.parse("2026-11-20T12:00:00Z");
const old = "2026-01-01T00:00:00Z";
const crd = "CustomResourceDefinition sriovnetworknodepolicies.sriovnetwork.openshift.io";

interface Life {
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
}

interface Given {
  readonly own?: Life;
  readonly definition?: Life | "missing" | "forbidden";
  readonly policies?: typeof sriovNetworkNodePolicies | typeof afxdpNetworkNodePolicies;
  readonly isServed?: boolean;
}

function setUp(given: Given = {}) {
  const world = { nowMs: noon, elapsedMs: 0, requests: 0 };
  const request = ({ path }: TransportRequest) => {
    world.requests++;
    const { own = { creationTimestamp: old }, definition = { creationTimestamp: old } } = given;
    const life = path.startsWith("/api/v1/namespaces/") ? own : definition;
    if (life === "missing") return Promise.reject(new KubeError(`GET ${path}`, "NotFound", { status: 404 }));
    if (life === "forbidden") return Promise.reject(new KubeError(`GET ${path}`, "Forbidden", { status: 403 }));
    const metadata = { name: path.slice(path.lastIndexOf("/") + 1), ...life };
    return Promise.resolve({ apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata });
  };
  const { policies: type = sriovNetworkNodePolicies, isServed = true } = given;
  const cache = { served: isServed };
  const clocks = { nowMs: () => world.nowMs, elapsedMs: () => world.elapsedMs };
  const find = createResetHold({ transport: { request }, type, cache, namespace: "ns", ...clocks });
  return { world, find: (writtenAt: string | undefined) => find(writtenAt, never) };
}

describe("createResetHold", () => {
  it("holds nothing while namespace and definition are old", async () => {
    expect(await setUp().find("2026-11-20T11:00:00Z")).toBeUndefined();
    expect(await setUp().find(undefined)).toBeUndefined();
  });

  it.each([
    {
      does: "while the namespace is being deleted",
      given: { own: { creationTimestamp: old, deletionTimestamp: "2026-11-20T11:59:59Z" } },
      reason: "NamespaceTerminating",
      says: "namespace ns is being deleted",
    },
    {
      does: "while the definition is being deleted",
      given: { definition: { creationTimestamp: old, deletionTimestamp: "2026-11-20T11:59:59Z" } },
      reason: "DefinitionTerminating",
      says: `${crd} is being deleted`,
    },
    {
      does: "while the API server does not serve the kind",
      given: { isServed: false },
      reason: "DefinitionMissing",
      says: "the API server does not serve sriovnetworknodepolicies.sriovnetwork.openshift.io",
    },
    {
      does: "while the definition is missing",
      given: { definition: "missing" as const },
      reason: "DefinitionMissing",
      says: `${crd} does not exist`,
    },
    {
      does: "while the definition of the AF_XDP policies is missing",
      given: { definition: "missing" as const, policies: afxdpNetworkNodePolicies },
      reason: "DefinitionMissing",
      says: "CustomResourceDefinition afxdpnetworknodepolicies.afxdpnetwork.hns.dev does not exist",
    },
  ])("holds $does", async ({ given, reason, says }) => {
    const hold = await setUp(given).find("2026-11-20T11:59:00Z");
    expect(hold).toMatchObject({ reason, afterMs: 10_000 });
    expect(hold?.message).toContain(says);
  });

  it.each([
    { what: crd, given: { definition: { creationTimestamp: "2026-11-20T11:58:00Z" } } },
    { what: "namespace ns", given: { own: { creationTimestamp: "2026-11-20T11:58:00Z" } } },
  ])("holds for five minutes after $what was created, what was configured before", async ({ what, given }) => {
    const { world, find } = setUp(given);
    const hold = {
      reason: "RestorePending",
      objects: "policies",
      afterMs: 180_000,
      message:
        `${what} was created at 2026-11-20T11:58:00Z, after the nodes were configured; restore the policies before ` +
        "2026-11-20T12:03:00.000Z, when nodes without policies are reset",
    };
    expect([await find("2026-11-20T11:57:00Z"), await find("2026-11-20T11:58:00Z"), await find(undefined)]).toEqual([
      hold,
      hold,
      hold,
    ]);
    world.nowMs += 180_000;
    expect(await find("2026-11-20T11:57:00Z")).toBeUndefined();
  });

  it.each([
    { clock: "in 1970", created: "1970-01-01T00:01:00Z" },
    { clock: "years ahead", created: "2040-01-01T00:00:00Z" },
  ])("holds for five minutes, and not for years, if the clock of the API server was $clock", async ({ created }) => {
    const { world, find } = setUp({ own: { creationTimestamp: created } });
    for (const writtenAt of [old, undefined, "1970-01-01T00:00:30Z", "2040-01-01T00:00:30Z"]) {
      expect(await find(writtenAt)).toMatchObject({ reason: "RestorePending", afterMs: 300_000 });
    }
    world.elapsedMs += 300_000;
    expect(await find(old)).toBeUndefined();
  });

  it("does not hold in a new installation, in which the node was configured after the definition was created", async () => {
    const { find } = setUp({ definition: { creationTimestamp: "2026-11-20T11:58:00Z" } });
    expect(await find("2026-11-20T11:58:01Z")).toBeUndefined();
  });

  it("does not hold if it may not read the definition, as with the roles of an older release", async () => {
    expect(await setUp({ definition: "forbidden" }).find(old)).toBeUndefined();
  });

  it("asks the API server once for all nodes that wait, and not before they do", async () => {
    const { world, find } = setUp();
    await Promise.all([find(old), find(old), find(undefined)]);
    expect(world.requests).toBe(2);
    await Promise.all([find(old), Promise.resolve().then(() => Promise.all([find(old), find(old)]))]);
    expect(world.requests).toBe(6);
  });

  it("holds although it asked for another node just before the definition was deleted", async () => {
    const given: { definition: Life } = { definition: { creationTimestamp: old } };
    const { find } = setUp(given);
    const [early, late] = [find(old), Promise.resolve().then(() => {
      given.definition = { creationTimestamp: old, deletionTimestamp: "2026-11-20T12:00:00Z" };
      return find(old);
    })]; // prettier-ignore
    expect(await early).toBeUndefined();
    expect(await late).toMatchObject({ reason: "DefinitionTerminating" });
    given.definition = { creationTimestamp: "2026-11-20T12:00:00Z" };
    expect(await find(old)).toMatchObject({ reason: "RestorePending" });
  });
});

describe("losesAll", () => {
  const pf = { pciAddress: "0000:3b:00.0", numVfs: 4 };
  const [some, nothing] = [sriovGrants({ interfaces: [pf] }), sriovGrants({})];
  const resets = sriovGrants({ unselected: [pf.pciAddress] });
  it.each([
    { before: undefined, after: nothing, is: false },
    { before: some, after: some, is: false },
    { before: some, after: nothing, is: true },
    { before: nothing, after: nothing, is: false },
    { before: nothing, after: resets, is: true }, // configured in an earlier life of the node state
    { before: resets, after: resets, is: false },
  ])("is $is from $before to $after", ({ before, after, is }) => {
    expect(losesAll(before, after)).toBe(is);
  });
});

describe("wereLostTogether", () => {
  const pf = { pciAddress: "0000:3b:00.0", numVfs: 4, vfGroups: [{ resourceName: "a" }, { resourceName: "b" }] };
  const before = { before: sriovGrants({ interfaces: [pf] }), specWrittenAt: old };
  const lost = { writtenAt: old };
  it.each([
    { does: "nothing", after: { interfaces: [pf] }, is: undefined },
    { does: "another PF too", after: { interfaces: [pf, { ...pf, pciAddress: "0000:3b:00.1" }] }, is: undefined },
    { does: "more VFs", after: { interfaces: [{ ...pf, numVfs: 8 }] }, is: undefined },
    { does: "no PF", after: { interfaces: [], unselected: [pf.pciAddress] }, is: lost },
    { does: "fewer VFs", after: { interfaces: [{ ...pf, numVfs: 2 }] }, is: lost },
    { does: "a resource less", after: { interfaces: [{ ...pf, vfGroups: [{ resourceName: "a" }] }] }, is: lost },
    {
      does: "the reset of a PF that was configured in an earlier life of the node state",
      after: { interfaces: [pf], unselected: ["0000:3b:00.1"] },
      is: { writtenAt: undefined },
    },
  ])("is $is for a spec with $does", ({ after, is }) => {
    const grants = sriovGrants(after);
    expect(wereLostTogether(before, grants)).toEqual(is);
    expect(wereLostTogether({ before: grants }, grants)).toBeUndefined();
  });

  const mode: AfxdpMode = "subfunction";
  const device = { pciAddress: "0000:86:00.0", name: "ens2f0", mode, poolName: "fast", numSfs: 4 };
  const veth = { name: "veth0", mode: "primary" as const, poolName: "slow" };
  it.each([
    { does: "another device too", after: { interfaces: [device, veth, { ...veth, name: "veth1" }] }, is: undefined },
    { does: "a device that was renamed", after: { interfaces: [{ ...device, name: "new0" }, veth] }, is: undefined },
    { does: "no device", after: { interfaces: [], unselected: [device.pciAddress, veth.name] }, is: lost },
    { does: "a device without PCI address less", after: { interfaces: [device] }, is: lost },
    { does: "fewer subfunctions", after: { interfaces: [{ ...device, numSfs: 2 }, veth] }, is: lost },
    { does: "another pool", after: { interfaces: [{ ...device, poolName: "b" }, veth] }, is: lost },
    {
      does: "the reset of a device that was configured in an earlier life of the node state",
      after: { interfaces: [device, veth], unselected: ["0000:86:00.1"] },
      is: { writtenAt: undefined },
    },
  ])("is $is for an AF_XDP spec with $does", ({ after, is }) => {
    const given = { before: afxdpGrants({ interfaces: [device, veth] }), specWrittenAt: old };
    expect(wereLostTogether(given, afxdpGrants(after))).toEqual(is);
  });
});
