// SPDX-License-Identifier: Apache-2.0
/** The plugin for Headlamp. Headlamp runs the bundle of this file (`npm run release -- headlamp`) when it starts. */
import { createClusterView } from "./cluster-view.ts";
import type { HeadlampLibrary } from "./headlamp-library.ts";

declare const pluginLib: HeadlampLibrary;

const path = "/switchyard";

pluginLib.registerSidebarEntry({
  parent: null,
  name: "switchyard",
  label: "Switchyard",
  url: path,
  icon: "mdi:expansion-card",
});
pluginLib.registerRoute({
  path,
  name: "Switchyard",
  sidebar: "switchyard",
  exact: true,
  component: createClusterView(pluginLib),
});
