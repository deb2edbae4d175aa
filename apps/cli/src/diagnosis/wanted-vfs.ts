// SPDX-License-Identifier: Apache-2.0
import type { Flags } from "../flags.ts";
import type { VfRow } from "./list-vfs.ts";

/** What a user wants to see of all VFs. */
export type VfFilter = Pick<Flags, "node" | "resource" | "pod" | "resourcePrefix">;

/** A pod is given as NAME or NAMESPACE/NAME; a resource with or without its prefix. */
export function isWanted({ node, resource, pod, possiblePods = [] }: VfRow, flags: VfFilter): boolean {
  const pods = pod === undefined ? possiblePods : [pod];
  return (
    (flags.node === undefined || flags.node === node) &&
    (flags.resource === undefined || flags.resource.replace(`${flags.resourcePrefix}/`, "") === resource) &&
    (flags.pod === undefined || pods.some((name) => name === flags.pod || name.endsWith(`/${flags.pod ?? ""}`)))
  );
}
