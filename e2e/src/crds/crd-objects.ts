// SPDX-License-Identifier: Apache-2.0
/** Creates and changes objects of Switchyard's kinds at a real API server, and reads the fields that it refuses. */
import {
  customResources,
  machineConfigPools,
  machineConfigs,
  type CustomResource,
  type ResourceType,
} from "@switchyard/api";
import { collectionPath, isKubeError, isRecord, objectPath, type Transport } from "@switchyard/kube";
import type { ControlPlane } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

const configuration = { group: "config.openshift.io", version: "v1", namespaced: false } as const;

/** The kind APIServer of OpenShift's configuration, which has the TLS profile. */
const apiServers: ResourceType = { ...configuration, kind: "APIServer", plural: "apiservers" };

/** The kind Infrastructure of OpenShift's configuration. */
const infrastructures: ResourceType = { ...configuration, kind: "Infrastructure", plural: "infrastructures" };

/**
 * CRDs of the OpenShift kinds that the operator reads or writes. They have no schema and accept any object.
 * The CRDs of these kinds.
 */
export const openshiftCrds = [machineConfigs, machineConfigPools, apiServers, infrastructures].map(
  ({ group, version, kind, plural }) => {
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        names: { kind, plural },
        scope: "Cluster",
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    };
  },
);

/** Path of the workspace. */
export const workspace = join(__dirname, "../../..");

/** Path of the folder with Switchyard's CRDs. */
export const crdFolder = join(workspace, "charts/switchyard/crds");

/** Creates or updates Switchyard's CRDs of these kinds. */
export async function applyCrdsOf(cluster: ControlPlane, types: readonly ResourceType[]): Promise<void> {
  for (const { group, plural } of types) await cluster.applyCrds(join(crdFolder, `${group}_${plural}.yaml`));
}

/** The operator's namespace. */
export const namespace = "sriov-network-operator";

/** An object of a manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** A field that the API server refused, and its message. */
export interface Refusal {
  readonly field: string;
  readonly message: string;
}

/** The objects in a YAML file. `path` is relative to the workspace. */
export function readManifests(path: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(join(workspace, path), "utf8")).map((document) => {
    const object: unknown = document.toJS();
    if (!isManifest(object)) throw new TypeError(`${path} has something that is no object of the API`);
    return object;
  });
}

/** Creates the object, or validates it with `dryRun`. The API server refuses fields that the schema does not have. */
export async function create(
  transport: Transport,
  object: Manifest,
  { dryRun = false, onWarning }: { dryRun?: boolean; onWarning?: (text: string) => void } = {},
): Promise<unknown> {
  const path = collectionPath(resourceOf(object), object.metadata.namespace ?? namespace);
  const query = { fieldValidation: "Strict", ...(dryRun && { dryRun: "All" }) };
  return transport.request({ method: "POST", path, query, body: object, onWarning });
}

/** Merges fields into a stored object or into its status. */
export async function patch(
  transport: Transport,
  object: Manifest,
  body: { readonly metadata?: unknown; readonly spec?: unknown; readonly status?: unknown },
): Promise<unknown> {
  const name = { namespace, ...object.metadata };
  const path = objectPath(resourceOf(object), name, body.status === undefined ? undefined : "status");
  return transport.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
}

/** The refused fields in sorted order; empty if the request succeeded. */
export async function refusals(attempt: Promise<unknown>): Promise<readonly Refusal[]> {
  try {
    await attempt;
    return [];
  } catch (error) {
    if (!isKubeError(error, "Invalid")) throw error;
    const causes = error.details?.causes ?? [];
    return causes
      .map(({ field = "", message = "" }) => ({ field, message }))
      .filter(({ field }) => field !== leftOut)
      .sort((a, b) => (a.field < b.field ? -1 : Number(a.field > b.field)));
  }
}

/** If an object violates the schema, the API server skips the CEL rules and reports that as a cause without a field. */
const leftOut = "<nil>";

function resourceOf({ kind }: Manifest): CustomResource {
  const found = customResources.find((resource) => resource.kind === kind);
  if (found === undefined) throw new TypeError(`${kind} is no kind of ours`);
  return found;
}

function isManifest(value: unknown): value is Manifest {
  return isRecord(value) && typeof value["kind"] === "string" && isRecord(value["metadata"]);
}
