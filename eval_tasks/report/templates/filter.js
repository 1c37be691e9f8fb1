"use strict";
for (const controls of document.querySelectorAll("fieldset[data-filters]")) {
  const rows = [...document.getElementById(controls.dataset.filters).tBodies[0].rows];
  const names = rows.map((row) => row.textContent.toLowerCase());
  const search = controls.querySelector("input[type=search]");
  const count = controls.querySelector(".count");
  const apply = () => {
    const kind = controls.querySelector("input:checked").value;
    const text = search.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, index) => {
      const fits = (kind === "" || row.classList.contains(kind)) && names[index].includes(text);
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent = shown.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " shown";
  };
  controls.addEventListener("input", apply);
  controls.hidden = false;
  apply();
}
