// SPDX-License-Identifier: Apache-2.0
/**
 * Kubernetes 1.30 to 1.32 check all rules when a status is written, also those about a spec that did not change. The CRDs are
 * compiled, and the rules evaluated, by the code of the API server of Kubernetes 1.30 in a Go program.
 */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { buildGoPrograms } from "@switchyard/go-programs";
import { isRecord } from "@switchyard/kube";
import { runProgram } from "@switchyard/testing";
import { crdFolder, readManifests } from "../../src/crds/crd-objects.ts";

const buildMs = 15 * 60_000;
const folder = "e2e/integration/crds/testdata/upstream-without-webhook";
const plurals = [
  ...["sriovnetworknodepolicies", "sriovnetworknodestates", "sriovnetworkpoolconfigs", "sriovoperatorconfigs"],
  ...["sriovnetworks", "sriovibnetworks", "ovsnetworks"],
];
const stored = plurals.flatMap((plural) => readManifests(`${folder}/${plural}.yaml`));
const status = {
  conditions: [
    {
      type: "Ready",
      status: "False",
      reason: "Invalid",
      message: "",
      lastTransitionTime: "2026-08-06T20:24:48Z",
    },
  ],
};

/** A change of the stored objects that adds a violation, by kind. */
const wrong: Readonly<Record<string, object>> = {
  SriovNetworkNodePolicy: { nicSelector: { pfNames: ["ens1#7"] } },
  SriovNetworkPoolConfig: { maxUnavailable: "0%" },
  SriovOperatorConfig: { configDaemonEnvVars: { "C=D": "e" } },
  SriovNetwork: { ipam: "dhcp" },
  SriovIBNetwork: { resourceName: "openshift.io/other" },
  OVSNetwork: { bridge: "a-bridge-too-far" },
};

describe("the API server of Kubernetes 1.30", () => {
  let program: string;
  let crds: readonly unknown[];

  beforeAll(async () => {
    const sources = join(__dirname, "oldest");
    const built = await buildGoPrograms({ sources, cacheName: "crds-oldest", title: "the rules of Kubernetes 1.30" });
    program = join(built, "oldest");
    const names = (await readdir(crdFolder)).filter((name) => name.endsWith(".yaml"));
    crds = await Promise.all(
      names.map(async (name): Promise<unknown> => parse(await readFile(join(crdFolder, name), "utf8"))),
    );
  }, buildMs);

  async function errorsOf(updates: readonly { readonly old: object; readonly new: object }[]) {
    const { stdout, stderr } = await runProgram(program, [], { input: JSON.stringify({ crds, updates }) });
    const result: unknown = stdout === "" ? undefined : JSON.parse(stdout);
    if (!isRecord(result)) throw new Error(`the program printed no result: ${stderr}`);
    return result;
  }

  it("accepts the CRDs, with the cost of their rules", async () => {
    const { crds: errors } = await errorsOf([]);
    expect(errors).toEqual(crds.map(() => []));
  });

  it("lets a status be written to each object that only upstream's CRDs accept", async () => {
    const { updates } = await errorsOf(stored.map((old) => ({ old, new: { ...old, status } })));
    const lines = stored.map(({ kind, metadata }, index) => ({
      object: `${kind} ${metadata.name}`,
      errors: Array.isArray(updates) ? (updates[index] as unknown) : updates,
    }));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter(({ errors }) => JSON.stringify(errors) !== "[]")).toEqual([]);
  });

  it("refuses new violations of these objects", async () => {
    const changes = stored.flatMap((old) => {
      const spec = wrong[old.kind];
      return spec === undefined ? [] : [{ old, new: { ...old, spec: { ...specOf(old), ...spec } } }];
    });
    const { updates } = await errorsOf(changes);
    const accepted = changes.filter((_, index) => Array.isArray(updates) && JSON.stringify(updates[index]) === "[]");
    expect(accepted.map(({ old }) => `${old.kind} ${old.metadata.name}`)).toEqual([]);
  });
});

function specOf(object: object): object {
  return "spec" in object && isRecord(object.spec) ? object.spec : {};
}
