// SPDX-License-Identifier: Apache-2.0
/**
 * readServerSecrets reads the certificates of admission servers: the Secrets that DaemonSets mount, one by one. Their keys are
 * dropped at once.
 */
import { isKubeError, objectPath, type Transport } from "@switchyard/kube";
import { at, listAt, textAt, toManifest, type Manifest } from "../json.ts";

/** The type of Secrets. */
export const secrets = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true } as const;

const certificateKey = "tls.crt";

export interface ServerSecrets {
  /** Secrets that do not exist are left out. */
  readonly manifests: readonly Manifest[];
  /** Names of the Secrets that the user may not read. */
  readonly refused: readonly string[];
}

/** Rejects with KubeError if the cluster cannot be reached. */
export async function readServerSecrets(
  transport: Transport,
  daemonSets: readonly Manifest[],
  origin: string,
): Promise<ServerSecrets> {
  const mounted = daemonSets.flatMap(({ namespace, object }) =>
    listAt(object, "spec", "template", "spec", "volumes").flatMap((volume) => {
      const name = textAt(at(volume, "secret"), "secretName");
      return name === undefined || namespace === undefined ? [] : [{ namespace, name }];
    }),
  );
  const places = new Map(mounted.map((place) => [`${place.namespace}/${place.name}`, place]));
  const found = await Promise.all([...places.values()].map((place) => readCertificate(transport, place, origin)));
  return {
    manifests: found.filter((secret) => typeof secret === "object"),
    refused: [...places.values()].filter((_, index) => found[index] === "refused").map(({ name }) => name),
  };
}

async function readCertificate(
  transport: Transport,
  place: { readonly namespace: string; readonly name: string },
  origin: string,
): Promise<Manifest | "refused" | undefined> {
  try {
    const secret = await transport.request({ method: "GET", path: objectPath(secrets, place) });
    const data = { [certificateKey]: textAt(at(secret, "data"), certificateKey) ?? "" };
    return toManifest({ apiVersion: "v1", kind: secrets.kind, metadata: place, data }, origin);
  } catch (error) {
    if (isKubeError(error, "NotFound")) return undefined;
    if (isKubeError(error, "Forbidden")) return "refused";
    throw error;
  }
}
