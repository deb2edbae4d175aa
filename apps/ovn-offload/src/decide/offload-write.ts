// SPDX-License-Identifier: Apache-2.0
/**
 * OffloadWrite is one write to the cluster, as plain data. Writes of one decision do not depend on each other: what must come
 * later is decided when the earlier write has been observed.
 * Usage: `const writes: readonly OffloadWrite[] = decide(observed).writes;`
 */
import type { Taint } from "@switchyard/api";
import type { DnsPatch, MachineConfigManifest, OffloadPolicy } from "@switchyard/render";
import type { ConfigMapRole } from "./observed.ts";

export type OffloadWrite =
  /** All labels that ovn-offload owns on the node; others of its labels are removed. */
  | { readonly kind: "label-node"; readonly node: string; readonly uid: string; readonly labels: Labels }
  /** All taints of the node, those of others included. */
  | { readonly kind: "taint-node"; readonly node: string; readonly taints: readonly Taint[] }
  | { readonly kind: "apply-policy"; readonly policy: OffloadPolicy }
  | { readonly kind: "delete-policy"; readonly name: string }
  | { readonly kind: "apply-machine-config"; readonly config: MachineConfigManifest }
  | { readonly kind: "delete-machine-config"; readonly name: string }
  /** Creates the ConfigMap if it does not exist. */
  | {
      readonly kind: "patch-config-map";
      readonly role: ConfigMapRole;
      readonly data: Readonly<Record<string, string | null>>;
      readonly annotations: Readonly<Record<string, string | null>>;
    }
  | { readonly kind: "delete-config-map"; readonly role: ConfigMapRole }
  | { readonly kind: "patch-dns"; readonly patch: DnsPatch };

type Labels = Readonly<Record<string, string>>;
