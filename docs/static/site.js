// A page opened from disk may read no other page, so that results of a search have no excerpts there
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// Scroll the sidebar to the page that is open
const sidebar = document.querySelector(".sidebar-scroll");
const current = document.querySelector(".sidebar-tree .current-page");
if (sidebar && current)
  sidebar.scrollTop += current.getBoundingClientRect().top - sidebar.getBoundingClientRect().top - sidebar.clientHeight / 2;
