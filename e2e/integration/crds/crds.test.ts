// SPDX-License-Identifier: Apache-2.0
/**
 * Switchyard's CRDs on a real API server: the server accepts them, and they accept every object that upstream stores
 * and uses.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { customResources, sriovResources } from "@switchyard/api";
import { connect, isRecord, type Transport } from "@switchyard/kube";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { crdFolder, create, namespace, patch, readManifests } from "../../src/crds/crd-objects.ts";

const coldStartMs = 10 * 60_000;
const testMs = 2 * 60_000;
const upstreamKinds = sriovResources.filter(({ kind }) => kind !== "BridgeNetwork"); // upstream does not have this kind

describe("Switchyard's CRDs", () => {
  let cluster: ControlPlane;
  let transport: Transport;

  beforeAll(async () => {
    cluster = await startControlPlane();
    await cluster.applyCrds(crdFolder);
    for (const name of [namespace, "tenant-a", "tenant-b", "hpc"]) await cluster.kubectl(["create", "namespace", name]);
    transport = await connect({ kubeconfig: cluster.kubeconfig });
  }, coldStartMs);
  afterAll(async () => {
    await transport[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  it(
    "are established and structural",
    async () => {
      const columns = ["NAME:.metadata.name", "TYPES:.status.conditions[?(@.status=='True')].type"].join(",");
      const crds = await cluster.kubectl(["get", "crds", "--no-headers", "-o", `custom-columns=${columns}`]);
      const lines = crds.trimEnd().split("\n");
      expect(lines.map((line) => line.split(/\s+/))).toEqual(
        customResources.map(({ plural, group }) => [`${plural}.${group}`, "NamesAccepted,Established"]).sort(),
      );
    },
    testMs,
  );

  it.each(customResources.map(({ plural }) => plural))(
    "accept the example of %s in the reference",
    async (plural) => {
      for (const object of readManifests(`libs/api/examples/${plural}.yaml`)) {
        const { spec } = object;
        expect(await create(transport, object, { dryRun: true })).toMatchObject({ spec });
      }
    },
    testMs,
  );

  it.each(upstreamKinds.map(({ plural }) => plural))(
    "accept %s as upstream stores them, without losing a field of spec or status",
    async (plural) => {
      for (const object of readManifests(`e2e/testdata/upstream/${plural}.yaml`)) {
        const { spec, status } = object;
        const whole = spec === undefined ? {} : { spec };
        expect(await create(transport, object)).toMatchObject(whole);
        if (status !== undefined)
          expect(await patch(transport, object, { status })).toMatchObject({ ...whole, status });
      }
    },
    testMs,
  );

  it(
    "describe each field for kubectl explain",
    async () => {
      // kubectl explain reads this document, and shows each description in it.
      const paths = ["sriovnetwork.openshift.io/v1", "afxdpnetwork.hns.dev/v1alpha1"].map(
        (version) => `/openapi/v3/apis/${version}`,
      );
      const schemas = await eventually("schemas of all kinds", async () => {
        const documents = await Promise.all(paths.map((path) => transport.request({ method: "GET", path })));
        const found = new Map(documents.flatMap((document) => [...schemasOf(document)]));
        return customResources.every(({ kind }) => found.has(kind)) ? found : undefined;
      });
      const mute = customResources.flatMap(({ kind }) => undescribed(kind, schemas.get(kind)));
      expect(mute).toEqual([]);
      const explained = await cluster.kubectl(["explain", "sriovnetworknodepolicies.spec.nicSelector.pfNames"]);
      expect(explained).toMatch(
        /FIELD: pfNames <\[\]string>\n\n+DESCRIPTION:\n +Interface names or alternative names of PFs/,
      );
    },
    testMs,
  );
});

/** The schemas in an OpenAPI document, by kind. */
function schemasOf(document: unknown): ReadonlyMap<string, unknown> {
  const components = isRecord(document) ? document["components"] : undefined;
  const schemas = isRecord(components) && isRecord(components["schemas"]) ? components["schemas"] : {};
  return new Map(Object.entries(schemas).map(([name, schema]) => [name.slice(name.lastIndexOf(".") + 1), schema]));
}

/** The paths of the fields below `schema` without a description. Kubernetes itself describes metadata. */
function undescribed(path: string, schema: unknown): readonly string[] {
  if (!isRecord(schema)) return [`${path} is missing`];
  const { properties, items, additionalProperties } = schema;
  const fields = isRecord(properties) ? Object.entries(properties).filter(([name]) => name !== "metadata") : [];
  return [
    ...(typeof schema["description"] === "string" ? [] : [path]),
    ...fields.flatMap(([name, field]) => undescribed(`${path}.${name}`, field)),
    ...[items, additionalProperties].filter(isRecord).flatMap((element) => {
      const { description = "shown with its list or map" } = element;
      return undescribed(`${path}[]`, { ...element, description });
    }),
  ];
}
