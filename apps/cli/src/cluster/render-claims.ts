// SPDX-License-Identifier: Apache-2.0
/**
 * renderClaims renders ResourceClaimTemplates for pairs of a VF and a device of another driver, such as a GPU, on one PCIe root. Where VFs
 * are follows from the policies and the node states, where the others are from the ResourceSlices of their drivers.
 */
import { draDriverName, type SriovNetworkNodeState } from "@switchyard/api";
import { renderDeviceClasses, renderPairTemplates, type DevicesOfClass, type PairTemplate } from "@switchyard/render";
import { at, listAt, textAt, type JsonObject, type Manifest } from "../json.ts";
import type { Diagnostics } from "../terminal.ts";
import type { ClusterObjects } from "./cluster-objects.ts";

export const claimTemplateKind = "ResourceClaimTemplate";

export interface RenderClaimsOptions {
  /** Prefix of resource names, without the slash. */
  readonly resourcePrefix: string;
  readonly diagnostics: Diagnostics;
}

/** `wanted` are the node states as the policies want them. That nothing can be rendered is reported. */
export function renderClaims(
  cluster: ClusterObjects,
  { manifests, wanted }: { readonly manifests: readonly Manifest[]; readonly wanted: readonly SriovNetworkNodeState[] },
  { resourcePrefix, diagnostics }: RenderClaimsOptions,
): readonly PairTemplate[] {
  const others = classesOfOthers(manifests, cluster.slices);
  if (others.length === 0) {
    diagnostics.report(
      "--claims: the input has no DeviceClass of another driver: add the DeviceClasses and ResourceSlices of the GPUs",
    );
    return [];
  }
  for (const { deviceClass, roots } of others) {
    if (roots.size === 0) {
      diagnostics.note(
        `DeviceClass ${deviceClass}: no ResourceSlice says on which PCIe roots its devices are, so it is not known whether a node has a pair`,
      );
    }
  }
  const templates = renderPairTemplates(classesOfVfs(cluster, wanted, resourcePrefix), others);
  if (templates.length === 0)
    diagnostics.note("--claims: no node has a VF of a resource on the PCIe root of another device");
  return templates;
}

/** The PCIe roots of the PFs of each resource. */
function classesOfVfs(
  { states }: ClusterObjects,
  wanted: readonly SriovNetworkNodeState[],
  prefix: string,
): readonly DevicesOfClass[] {
  const roots = new Map<string, Map<string, Set<string>>>();
  for (const { metadata, spec } of wanted) {
    const nics = states.get(metadata.name)?.status?.interfaces ?? [];
    for (const { pciAddress, vfGroups = [] } of spec?.interfaces ?? []) {
      const root = nics.find((nic) => nic.pciAddress === pciAddress)?.pcieRoot;
      for (const { resourceName = "" } of vfGroups) {
        const ofResource = roots.get(resourceName) ?? new Map<string, Set<string>>();
        roots.set(resourceName, ofResource);
        if (root !== undefined)
          ofResource.set(metadata.name, new Set([...(ofResource.get(metadata.name) ?? []), root]));
      }
    }
  }
  return renderDeviceClasses({ prefix, resourceNames: roots.keys() }).flatMap(({ metadata, spec }) => {
    const resource = spec.extendedResourceName?.slice(prefix.length + 1);
    const found = resource === undefined ? undefined : roots.get(resource);
    return found === undefined ? [] : [{ deviceClass: metadata.name, roots: found }];
  });
}

/** DeviceClasses whose selectors name another driver, with the PCIe roots of that driver's devices. */
function classesOfOthers(manifests: readonly Manifest[], slices: readonly JsonObject[]): readonly DevicesOfClass[] {
  return manifests.flatMap(({ kind, name, object }) => {
    if (kind !== "DeviceClass") return [];
    const expressions = listAt(object, "spec", "selectors").map((each) => textAt(at(each, "cel"), "expression") ?? "");
    const driver = expressions.flatMap((text) => /device\.driver\s*==\s*["']([^"']+)["']/.exec(text)?.[1] ?? [])[0];
    return driver === undefined || driver === draDriverName
      ? []
      : [{ deviceClass: name, roots: rootsOfDriver(slices, driver) }];
  });
}

function rootsOfDriver(slices: readonly JsonObject[], driver: string): ReadonlyMap<string, ReadonlySet<string>> {
  const roots = new Map<string, Set<string>>();
  for (const { spec } of slices) {
    const node = textAt(spec, "nodeName");
    if (textAt(spec, "driver") !== driver || node === undefined) continue;
    for (const device of listAt(spec, "devices")) {
      const root = textAt(at(device, "attributes", "resource.kubernetes.io/pcieRoot"), "string");
      if (root !== undefined) roots.set(node, new Set([...(roots.get(node) ?? []), root]));
    }
  }
  return roots;
}
