// SPDX-License-Identifier: Apache-2.0
/**
 * Objects that upstream's CRDs accepted and Switchyard's would refuse: they stay, and their other fields can be
 * changed. To store them, the test removes from the CRDs what upstream's do not check.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { connect, isRecord, type Transport } from "@switchyard/kube";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import {
  crdFolder,
  create,
  namespace,
  patch,
  readManifests,
  refusals,
  type Manifest,
} from "../../src/crds/crd-objects.ts";

const coldStartMs = 10 * 60_000;
const testMs = 60_000;
const folder = "e2e/integration/crds/testdata/upstream-without-webhook";

/** Per kind: a valid change of a field that has no violation in the stored objects, and a change that is refused. */
const changes: Readonly<Record<string, { readonly harmless: object; readonly wrong: object }>> = {
  SriovNetworkNodePolicy: { harmless: { needVhostNet: true }, wrong: { nicSelector: { pfNames: ["ens1#7"] } } },
  SriovNetworkPoolConfig: { harmless: { rdmaMode: "shared" }, wrong: { maxUnavailable: "0%" } },
  SriovOperatorConfig: { harmless: { useCDI: true }, wrong: { configDaemonEnvVars: { "C=D": "e" } } },
  SriovNetwork: { harmless: { logFile: "/var/log/sriov.log" }, wrong: { ipam: "dhcp" } },
  SriovIBNetwork: { harmless: { linkState: "auto" }, wrong: { resourceName: "openshift.io/other" } },
  OVSNetwork: { harmless: { interfaceType: "internal" }, wrong: { bridge: "a-bridge-too-far" } },
  // The operator always writes the complete spec of a node state.
  SriovNetworkNodeState: {
    harmless: { interfaces: [{ pciAddress: "0000:01:00.0", vfGroups: [{ deviceType: "vfio-pci" }] }] },
    wrong: { interfaces: [{ pciAddress: "0000:01:00.0", vfGroups: [{ deviceType: "../../x" }] }] },
  },
};

describe("an object that only upstream's CRDs accept", () => {
  const objects = [
    "sriovnetworknodepolicies",
    "sriovnetworknodestates",
    "sriovnetworkpoolconfigs",
    "sriovoperatorconfigs",
    "sriovnetworks",
    "sriovibnetworks",
    "ovsnetworks",
  ].flatMap((plural) => readManifests(`${folder}/${plural}.yaml`));
  let cluster: ControlPlane;
  let transport: Transport;

  beforeAll(async () => {
    cluster = await startControlPlane();
    await cluster.kubectl(["create", "namespace", namespace]);
    transport = await connect({ kubeconfig: cluster.kubeconfig });
    const lax = await laxCrds();
    await cluster.applyCrds(lax);
    await rm(lax, { recursive: true });
    for (const object of objects) await create(transport, object);
    await cluster.applyCrds(crdFolder);
    // The API server applies a new schema shortly after the CRD was stored.
    for (const object of objects) {
      await eventually(`rules for ${object.kind}`, async () => {
        return (await refusals(create(transport, again(object), asked))).length > 0;
      });
    }
  }, coldStartMs);
  afterAll(async () => {
    await transport[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const named = objects.map((object) => ({ object, name: `${object.kind} ${object.metadata.name}` }));

  it.each(named)(
    "is refused as a new object: $name",
    async ({ object }) => {
      expect(await refusals(create(transport, again(object), asked))).not.toEqual([]);
    },
    testMs,
  );

  it.each(named)(
    "accepts labels, a status, and changes of other fields: $name",
    async ({ object }) => {
      const { harmless } = changes[object.kind] ?? {};
      const condition = {
        type: "Ready",
        status: "False",
        reason: "Invalid",
        message: "",
        lastTransitionTime: "2026-08-06T20:24:48Z",
      };
      expect(await refusals(patch(transport, object, { metadata: { labels: { a: "b" } } }))).toEqual([]);
      expect(await refusals(patch(transport, object, { status: { conditions: [condition] } }))).toEqual([]);
      expect(await patch(transport, object, { spec: harmless })).toMatchObject({ spec: harmless });
    },
    testMs,
  );

  it.each(named)(
    "refuses new violations: $name",
    async ({ object }) => {
      const { wrong } = changes[object.kind] ?? {};
      expect(await refusals(patch(transport, object, { spec: wrong }))).not.toEqual([]);
    },
    testMs,
  );
});

const asked = { dryRun: true };

/** The same object with another name. */
function again(object: Manifest): Manifest {
  return { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-again` } };
}

/** Writes Switchyard's CRDs to a new folder, without the rules that upstream's CRDs do not have. */
async function laxCrds(): Promise<string> {
  const lax = await mkdtemp(join(tmpdir(), "lax-crds-"));
  for (const name of await readdir(crdFolder)) {
    const crd: unknown = parse(await readFile(join(crdFolder, name), "utf8"));
    await writeFile(
      join(lax, name),
      stringify(withoutRules(crd, name.includes("nodestates") ? [...ourKeywords, "enum"] : ourKeywords)),
    );
  }
  return lax;
}

const ourKeywords = ["x-kubernetes-validations", "maxLength", "maxItems", "maxProperties"];

function withoutRules(value: unknown, ours: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutRules(each, ours));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) => !ours.includes(key) && !(key === "maximum" && inner === 65_535),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutRules(inner, ours)]));
}
