// SPDX-License-Identifier: Apache-2.0
/**
 * publishedVfs returns the VFs that Switchyard's driver, or dra-driver-sriov, publishes in ResourceSlices, with their taints and the claims
 * that have them. Only slices of the newest generation of a pool count, as for the scheduler.
 */
import { draDriverName } from "@switchyard/api";
import { at, entriesAt, listAt, textAt } from "../pods/json-parts.ts";

export interface PublishedVf {
  readonly node: string;
  /** Name of the device in its slice. */
  readonly device: string;
  /** By "domain/name", as in the slice; names without a domain have that of the driver. */
  readonly attributes: ReadonlyMap<string, AttributeValue>;
  readonly taints: readonly { readonly key: string; readonly value: string }[];
  /** Claims to which it is allocated, without those that only observe it: "apps/nic". */
  readonly claims: readonly string[];
}

export type AttributeValue = string | number | boolean;

/** Name of the attribute with the resource, as Multus reads it. */
export const resourceAttribute = "k8s.cni.cncf.io/resourceName";

/** Both are objects of the API, or come from files: they are not validated. */
export interface SlicesAndClaims {
  readonly slices: readonly object[];
  readonly claims: readonly object[];
}

export function publishedVfs({ slices, claims: all }: SlicesAndClaims): readonly PublishedVf[] {
  const claims = Map.groupBy(claimedDevices(all), keyOf);
  const own = slices.map((slice) => at(slice, "spec")).filter((spec) => textAt(spec, "driver") === draDriverName);
  const pools = Map.groupBy(own, (spec) => textAt(at(spec, "pool"), "name") ?? "");
  return [...pools].flatMap(([pool, specs]) => {
    const newest = Math.max(...specs.map(generationOf));
    return specs
      .filter((spec) => generationOf(spec) === newest)
      .flatMap((spec) =>
        listAt(spec, "devices").flatMap((device): readonly PublishedVf[] => {
          const name = textAt(device, "name");
          if (name === undefined) return [];
          return [
            {
              node: textAt(spec, "nodeName") ?? pool,
              device: name,
              attributes: attributesOf(device),
              taints: listAt(device, "taints").map((taint) => ({
                key: textAt(taint, "key") ?? "",
                value: textAt(taint, "value") ?? "",
              })),
              claims: (claims.get(keyOf({ pool, device: name })) ?? []).map(({ claim }) => claim),
            },
          ];
        }),
      );
  });
}

export interface ClaimedDevice {
  /** Name of the node, with Switchyard's driver. */
  readonly pool: string;
  readonly device: string;
  /** "apps/nic". */
  readonly claim: string;
}

/** Returns the VFs that claims have. A claim with adminAccess only observes its devices. */
export function claimedDevices(claims: readonly object[]): readonly ClaimedDevice[] {
  return claims.flatMap((claim) => {
    const [namespace = "default", name = ""] = ["namespace", "name"].map((key) => textAt(at(claim, "metadata"), key));
    return listAt(at(at(at(claim, "status"), "allocation"), "devices"), "results").flatMap(
      (result): readonly ClaimedDevice[] => {
        const [driver, pool, device] = ["driver", "pool", "device"].map((key) => textAt(result, key));
        if (driver !== draDriverName || pool === undefined || device === undefined) return [];
        return at(result, "adminAccess") === true ? [] : [{ pool, device, claim: `${namespace}/${name}` }];
      },
    );
  });
}

/** Names cannot contain line breaks. */
function keyOf({ pool, device }: Pick<ClaimedDevice, "pool" | "device">): string {
  return `${pool}\n${device}`;
}

function generationOf(spec: unknown): number {
  const generation = at(at(spec, "pool"), "generation");
  return typeof generation === "number" ? generation : 0;
}

function attributesOf(device: unknown): ReadonlyMap<string, AttributeValue> {
  return new Map(
    entriesAt(device, "attributes").flatMap(([name, typed]) => {
      const value = ["string", "version", "int", "bool"]
        .map((kind) => at(typed, kind))
        .find((each) => each !== undefined);
      const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      return isPlain ? [[name.includes("/") ? name : `${draDriverName}/${name}`, value] as const] : [];
    }),
  );
}
