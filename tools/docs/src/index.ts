// SPDX-License-Identifier: Apache-2.0
export { buildSite } from "./build-site.ts";
export { siteConfig } from "./site-config.ts";
