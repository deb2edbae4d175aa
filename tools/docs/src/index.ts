// SPDX-License-Identifier: Apache-2.0
export { buildSite, type SiteOptions } from "./build-site.ts";
export { headingId } from "./heading-ids.ts";
export { siteConfig, type SiteTheme } from "./site-config.ts";
