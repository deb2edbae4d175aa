// SPDX-License-Identifier: Apache-2.0
/**
 * writeOlderCrds writes Switchyard's CRDs without the fields that upstream's CRDs lack, and without the
 * kind BridgeNetwork: what a cluster has after upstream's chart installed its CRDs and Helm did not upgrade them.
 */
import { annotations } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { findWorkspaceRoot } from "@switchyard/testing";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

/** Paths in the schema, per plural name; "*" stands for all kinds. */
const absent: Readonly<Record<string, readonly string[]>> = {
  "*": ["status.observedGeneration"],
  sriovnetworknodepolicies: ["status.conditions", "status.matchedNodeCount", "status.readyNodeCount"],
  sriovnetworkpoolconfigs: ["status.conditions", "status.matchedNodeCount", "status.readyNodeCount"],
  sriovnetworknodestates: [
    "status.conditions",
    "status.bootID",
    "spec.interfaces[].vfGroups[].needVhostNet",
    "spec.interfaces[].vfGroups[].excludeTopology",
    "status.interfaces[].owned",
    "status.interfaces[].initialMtu",
    "status.interfaces[].maxMtu",
    "status.interfaces[].Vfs[].adminMac",
  ],
};

const withoutKinds = ["bridgenetworks"];

/** Returns the directory of the files, which is created below `directory`. */
export async function writeOlderCrds(directory: string): Promise<string> {
  const from = join(findWorkspaceRoot(), "charts/switchyard/crds");
  const to = join(directory, "older-crds");
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    const crd: unknown = parse(await readFile(join(from, name), "utf8"));
    const spec = at(crd, "spec");
    const plural = at(spec, "names")?.["plural"];
    if (typeof plural !== "string" || withoutKinds.includes(plural) || !name.startsWith("sriovnetwork")) continue;
    delete at(at(crd, "metadata"), "annotations")?.[annotations.crdsVersion];
    const versions: unknown = spec?.["versions"];
    for (const version of Array.isArray(versions) ? (versions as unknown[]) : []) {
      const schema = at(at(version, "schema"), "openAPIV3Schema");
      for (const path of [...(absent["*"] ?? []), ...(absent[plural] ?? [])]) removeField(schema, path.split("."));
    }
    await writeFile(join(to, name.replace(/ya?ml$/, "json")), JSON.stringify(crd));
  }
  return to;
}

function removeField(schema: Record<string, unknown> | undefined, [first = "", ...rest]: readonly string[]): void {
  const name = first.replace("[]", "");
  const properties = at(schema, "properties");
  if (properties === undefined) return;
  if (rest.length === 0) {
    Reflect.deleteProperty(properties, name);
    return;
  }
  const field = at(properties, name);
  removeField(first.endsWith("[]") ? at(field, "items") : field, rest);
}

function at(value: unknown, name: string): Record<string, unknown> | undefined {
  const inner = isRecord(value) ? value[name] : undefined;
  return isRecord(inner) ? inner : undefined;
}
