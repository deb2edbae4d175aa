// SPDX-License-Identifier: Apache-2.0
/**
 * readHelmRelease finds the release that installed the operator in the Secrets in which Helm keeps its revisions: chart, version,
 * revision, and the values that users set.
 */
import { at, isJsonObject, textAt, type JsonObject, type Manifest } from "../json.ts";
import { gunzipSync } from "node:zlib";

/** The newest revision of a release of one of both charts. */
export interface HelmRelease {
  readonly name: string;
  readonly revision: number;
  /** Name and version of the chart. */
  readonly chart: string;
  readonly version: string;
  /** Values that users set. */
  readonly values: JsonObject;
}

/** The charts of both operators. */
export const charts = { upstream: "sriov-network-operator-chart", own: "switchyard" } as const;

/** Type of the Secrets in which Helm 3 and 4 keep revisions. */
export const releaseSecretType = "helm.sh/release.v1";

/** A revision has the manifests of a chart, about 200 KiB. The limit is for a Secret that is not one of Helm's. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Returns the newest revision of a release of one of both charts, whose last attempt may have failed; undefined if there is none.
 * Secrets that cannot be decoded are skipped.
 */
export function readHelmRelease(manifests: readonly Manifest[], namespace: string): HelmRelease | undefined {
  return manifests
    .filter(({ kind, object }) => kind === "Secret" && textAt(object, "type") === releaseSecretType)
    .filter((manifest) => (manifest.namespace ?? namespace) === namespace)
    .flatMap(({ object }) => decode(textAt(at(object, "data"), "release")) ?? [])
    .filter(({ chart }) => Object.values<string>(charts).includes(chart))
    .toSorted((a, b) => b.revision - a.revision)[0];
}

/** Helm stores the revision as JSON, compressed and encoded as base64, and the API server encodes it again. */
function decode(data: string | undefined): HelmRelease | undefined {
  if (data === undefined) return undefined;
  try {
    const compressed = Buffer.from(Buffer.from(data, "base64").toString(), "base64");
    const release: unknown = JSON.parse(gunzipSync(compressed, { maxOutputLength: maxBytes }).toString());
    const [name, revision] = [textAt(release, "name"), at(release, "version")];
    const [chart, version] = [at(release, "chart", "metadata", "name"), at(release, "chart", "metadata", "version")];
    if (name === undefined || typeof revision !== "number" || typeof chart !== "string") return undefined;
    const values = at(release, "config");
    return {
      name,
      revision,
      chart,
      version: typeof version === "string" ? version : "",
      values: isJsonObject(values) ? values : {},
    };
  } catch {
    return undefined; // not a revision of Helm, or one of a driver that stores it in another way
  }
}
