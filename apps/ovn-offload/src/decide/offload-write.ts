// SPDX-License-Identifier: Apache-2.0
/**
 * OffloadWrite is one write to the cluster, as plain data. Writes of one decision do not depend on each other: what must come
 * later is decided when the earlier write has been observed. A write to an object of others has the resourceVersion from which
 * it was decided, so that it does not undo what they have changed since.
 * Usage: `const writes: readonly OffloadWrite[] = decide(observed).writes;`
 */
import type { Taint } from "@switchyard/api";
import type { DnsPatch, MachineConfigManifest, OffloadPolicy } from "@switchyard/render";
import type { ConfigMapRole } from "./observed.ts";

export type OffloadWrite =
  /** All labels that ovn-offload owns on the node; others of its labels are removed. */
  | { readonly kind: "label-node"; readonly node: string; readonly uid: string; readonly labels: Labels }
  /** All taints of the node, those of others included. */
  | {
      readonly kind: "taint-node";
      readonly node: string;
      readonly resourceVersion: string | undefined;
      readonly taints: readonly Taint[];
    }
  | { readonly kind: "apply-policy"; readonly policy: OffloadPolicy }
  | { readonly kind: "delete-policy"; readonly name: string; readonly uid: string | undefined }
  | { readonly kind: "apply-machine-config"; readonly config: MachineConfigManifest }
  | { readonly kind: "delete-machine-config"; readonly name: string; readonly uid: string }
  /** Creates the ConfigMap if `resourceVersion` is undefined. */
  | {
      readonly kind: "patch-config-map";
      readonly role: ConfigMapRole;
      readonly resourceVersion: string | undefined;
      readonly data: Readonly<Record<string, string | null>>;
      readonly annotations: Readonly<Record<string, string | null>>;
    }
  | { readonly kind: "delete-config-map"; readonly role: ConfigMapRole; readonly resourceVersion: string }
  | { readonly kind: "patch-dns"; readonly resourceVersion: string; readonly patch: DnsPatch };

type Labels = Readonly<Record<string, string>>;
