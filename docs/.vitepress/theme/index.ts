// SPDX-License-Identifier: Apache-2.0
/** VitePress's default theme with system fonts, Switchyard's colours and the version menu. */
import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import "./switchyard.css";
import { VersionMenu } from "./version-menu.ts";

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      "nav-bar-content-after": () => h(VersionMenu, { class: "in-bar" }),
      "nav-screen-content-after": () => h(VersionMenu, { class: "in-screen" }),
    }),
};

export default theme;
