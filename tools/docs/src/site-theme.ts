// SPDX-License-Identifier: Apache-2.0
import type { DefaultTheme } from "vitepress";

/** The theme's configuration with what the version menu of docs/.vitepress/theme needs. Code for browsers imports this file only. */
export interface SiteTheme extends DefaultTheme.Config {
  /** "v0.1" */
  readonly version: string;
  /** Whether versions.json and other versions are one folder above the site. */
  readonly isPublished: boolean;
}
