// SPDX-License-Identifier: Apache-2.0
/** OffloadLimit is what ovn-offload may write to objects of one kind. offload-limits.ts makes an admission policy of each. */
import type { NamedExpression, RequestRule } from "../../components/objects/kube-objects.ts";

/** Limits the writes to objects of one kind. */
export interface OffloadLimit {
  /** End of the policy's name. */
  readonly name: string;
  readonly rule: RequestRule;
  readonly variables: readonly NamedExpression[];
  /** `message` completes "USER may only ", as a CEL expression of type string. */
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}
