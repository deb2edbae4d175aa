// SPDX-License-Identifier: Apache-2.0
/** Tests the schemas with objects of upstream and with the examples, using ajv. e2e/ tests them with an API server. */
import { describe, expect, it } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { parseAllDocuments } from "yaml";
import { customResources, schemas, sriovResources } from "@switchyard/api";
import { isObject } from "./validation-rules.ts";

/** Upstream has no BridgeNetwork. */
const upstreamKinds = sriovResources.filter(({ kind }) => kind !== "BridgeNetwork");
const root = join(__dirname, "../../..");
const upstream = "e2e/testdata/upstream";

function readObjects(file: string): Readonly<Record<string, unknown>>[] {
  const documents = parseAllDocuments(readFileSync(join(root, file), "utf8"));
  return documents
    .map((document) => {
      const value: unknown = document.toJS();
      return value;
    })
    .filter(isObject);
}

/** Returns the errors of ajv for an object; null if it is valid. */
function validationErrors(kind: string, object: unknown): unknown {
  const ajv = new Ajv({ strict: false, validateFormats: false, useDefaults: true });
  const validate = ajv.compile(schemas[kind] ?? false);
  validate(object);
  return validate.errors ?? null;
}

describe.each(upstreamKinds.map(({ plural, kind }) => ({ plural, kind })))("$kind", ({ plural, kind }) => {
  it.each(readObjects(`${upstream}/${plural}.yaml`).map((object) => [object]))("accepts %j", (object) => {
    expect(object.kind).toBe(kind);
    expect(validationErrors(kind, object)).toBeNull();
  });
});

describe("the example", () => {
  it.each(customResources.map(({ plural, kind }) => ({ plural, kind })))("of $kind is valid", ({ plural, kind }) => {
    const [example, ...more] = readObjects(`libs/api/examples/${plural}.yaml`);
    expect(more).toEqual([]);
    expect(example?.kind).toBe(kind);
    expect(validationErrors(kind, example)).toBeNull();
  });
});

describe("the schemas", () => {
  it("are tested with upstream's objects of each kind", () => {
    const files = readdirSync(join(root, upstream)).filter((name) => name.endsWith(".yaml"));
    expect(files.sort()).toEqual(upstreamKinds.map(({ plural }) => `${plural}.yaml`).sort());
  });

  it("set the same default for an absent policy spec as Go clients", () => {
    const object: { spec?: unknown } = {};
    expect(validationErrors("SriovNetworkNodePolicy", object)).toBeNull();
    expect(object.spec).toEqual({
      resourceName: "",
      nodeSelector: {},
      numVfs: 0,
      nicSelector: {},
      deviceType: "netdevice",
    });
  });

  const spec = { resourceName: "a", nodeSelector: {}, numVfs: 1, nicSelector: {} };
  it.each([
    ["SriovNetworkNodePolicy", { ...spec, priority: 100 }],
    ["SriovNetworkNodePolicy", { ...spec, mtu: 0 }],
    ["SriovNetworkNodePolicy", { ...spec, numVfs: -1 }],
    ["SriovNetworkNodePolicy", { ...spec, deviceType: "uio" }],
    ["SriovNetworkNodePolicy", { ...spec, linkType: "Eth" }],
    ["SriovNetworkNodePolicy", { ...spec, resourceName: undefined }],
    ["SriovNetworkPoolConfig", { maxUnavailable: true }],
    ["SriovNetworkPoolConfig", { rdmaMode: "both" }],
    ["SriovOperatorConfig", { logLevel: 3 }],
    ["SriovOperatorConfig", { disablePlugins: ["intel"] }],
    ["SriovOperatorConfig", { featureGates: { parallelNicConfig: "true" } }],
    ["SriovNetworkNodeState", { interfaces: [{ name: "ens1" }] }],
  ])("reject a %s with the spec %j, as upstream's do", (kind, bad) => {
    expect(validationErrors(kind, { spec: bad })).not.toBeNull();
  });
});
