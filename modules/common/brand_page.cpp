#include "common/brand_page.hpp"

#include <algorithm>
#include <initializer_list>
#include <ry/cpp/color.hpp>
#include <ry/cpp/html.hpp>
#include <ry/cpp/types.hpp>

#include "common/mail_html.hpp"

namespace ry_brand_page {
namespace {

using ry_mail_html::next_tag;

constexpr std::string_view fonts =
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif";
constexpr std::string_view mono = "ui-monospace,'SF Mono','Cascadia Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace";

// Moves a colour towards another one until it is legible on all of `on`.
ry::color readable(ry::color c, const ry::color& towards, std::initializer_list<ry::color> on, double min_contrast) {
  const ry::color from = c;
  for (int step = 1; step <= 20; ++step) {
    if (std::all_of(on.begin(), on.end(), [&](const ry::color& b) { return ry::contrast(c, b) >= min_contrast; }))
      break;
    c = from.towards(towards, step / 20.0);
  }
  return c;
}

palette derived(palette p, const brand& b, const ry::color& towards) {
  const auto of = [](const std::string& text) { return *ry::color::parse(text); };
  const auto brand_color = ry::color::parse(b.color).value_or(ry::color{0x1d, 0x5f, 0xd1});
  const auto card = of(p.card);
  p.link = readable(brand_color, towards, {card, of(p.page), of(p.quote)}, 4.5).text();
  const auto button = readable(brand_color, towards, {card}, 3);
  const ry::color white{255, 255, 255}, black{};
  p.button = button.text();
  p.button_text = ry::contrast(button, white) >= 4.5   ? "#ffffff"
                  : ry::contrast(button, black) >= 4.5 ? "#000000"
                                                       : "#ffffff";
  return p;
}

std::string style_of(std::string_view name, bool button, bool optional, const palette& p) {
  if (name == "p") return "margin:0 0 16px";
  if (name == "h1") return "margin:0 0 16px;font-size:22px;line-height:1.3;font-weight:650";
  if (name == "h2") return "margin:24px 0 12px;font-size:17px;line-height:1.3;font-weight:650";
  if (name == "ul" || name == "ol") return "margin:0 0 16px;padding:0 0 0 22px";
  if (name == "li") return "margin:0 0 8px";
  if (name == "hr") return "margin:24px 0;border:0;border-top:1px solid " + p.line;
  if (name == "img") return "max-width:100%;height:auto;border:0";
  if (name == "small") return "font-size:14px;color:" + p.soft;
  if (name == "pre") return "margin:0 0 16px;white-space:pre-wrap;font-size:14px;font-family:" + std::string(mono);
  if (name == "code") return "font-size:14px;font-family:" + std::string(mono);
  if (name == "blockquote") {
    return "margin:0 0 16px;padding:12px 16px;border-left:3px solid " + p.line + ";background:" + p.quote +
           ";white-space:pre-line";
  }
  if (name == "a" && button) {
    return "display:inline-block;padding:12px 22px;border-radius:8px;font-weight:600;text-decoration:none;background:" +
           p.button + ";color:" + p.button_text;
  }
  if (name == "a") return "color:" + p.link + (optional ? ";margin-right:14px" : "");
  return {};
}

std::string_view class_of(std::string_view name, bool button) {
  if (name == "a") return button ? "ry-button" : "ry-link";
  if (name == "blockquote") return "ry-quote";
  if (name == "small") return "ry-soft";
  if (name == "hr") return "ry-line";
  return {};
}

// Adds the style of the layout to a tag, and the class that dark mode overrides. Keeps a style that the caller set.
std::string styled_tag(std::string_view text, std::string_view name, const palette& p) {
  const auto classes = ry_mail_html::find_attribute(text, "class");
  const auto given =
      classes.found ? std::string(text.substr(classes.begin, classes.end - classes.begin)) : std::string();
  const bool button = name == "a" && (" " + given + " ").find(" button ") != std::string::npos;
  const bool optional = (" " + given + " ").find(" optional ") != std::string::npos;
  const auto css = style_of(name, button, optional, p);
  if (css.empty() || ry_mail_html::find_attribute(text, "style").found) return std::string(text);
  const auto own_class = class_of(name, button);
  std::string out(text.substr(0, 1 + name.size()));
  std::string_view rest = text.substr(1 + name.size());
  if (!own_class.empty() && !classes.found) out += " class=\"" + std::string(own_class) + "\"";
  if (!own_class.empty() && classes.found) {
    out += std::string(text.substr(out.size(), classes.begin - out.size())) + std::string(own_class) + " ";
    rest = text.substr(classes.begin);
  }
  const auto tail = rest.ends_with("/>") ? std::string_view("/>") : std::string_view(">");
  rest.remove_suffix(tail.size());
  return out + std::string(rest) + " style=\"" + css + "\"" + std::string(tail);
}

std::string dark_rules(const palette& p) {
  const auto rule = [](std::string_view at, std::string_view css) {
    return std::string(at) + "{" + std::string(css) + "}";
  };
  std::string out = rule(".ry-page", "background:" + p.page + "!important");
  out += rule(".ry-card", "background:" + p.card + "!important;color:" + p.text + "!important;border-color:" + p.line +
                              "!important");
  out += rule(".ry-name", "color:" + p.text + "!important");
  out += rule(".ry-soft,.ry-foot", "color:" + p.soft + "!important");
  out += rule(".ry-line", "border-color:" + p.line + "!important");
  out += rule(".ry-quote", "background:" + p.quote + "!important;border-color:" + p.line + "!important");
  out += rule(".ry-link", "color:" + p.link + "!important");
  out += rule(".ry-button", "background:" + p.button + "!important;color:" + p.button_text + "!important");
  return out;
}

std::string name_or_logo(const brand& b, const palette& p) {
  const auto name = ry::escaped_html(b.name);
  if (!b.logo_url.empty()) {
    return "<img src=\"" + ry::escaped_html(b.logo_url) + "\" alt=\"" + name +
           "\" height=\"32\" style=\"display:block;height:32px;max-width:240px;border:0\">";
  }
  return "<span class=\"ry-name\" style=\"font-size:17px;font-weight:650;color:" + p.text + "\">" + name + "</span>";
}

}  // namespace

brand brand_of(const ry::context& ctx) {
  brand out;
  const auto read = [&](std::string& to, const char* fact) {
    if (const auto text = ctx.fact(fact); !text.empty()) to = text;
  };
  read(out.name, "brand.name");
  read(out.color, "brand.color");
  read(out.logo_url, "brand.logo_url");
  return out;
}

palette light_palette(const brand& b) {
  return derived({"#f4f5f7", "#ffffff", "#dde1e7", "#1c2024", "#596069", "#f4f5f7", "", "", ""}, b, {});
}
palette dark_palette(const brand& b) {
  return derived({"#101214", "#181b1f", "#2c3138", "#e8eaed", "#a4abb5", "#22262b", "", "", ""}, b, {255, 255, 255});
}

std::string styled(std::string_view html, const palette& p) {
  std::string out;
  std::size_t at = 0;
  for (auto t = next_tag(html, 0); !t.name.empty(); t = next_tag(html, t.end)) {
    out += html.substr(at, t.begin - at);
    const auto text = html.substr(t.begin, t.end - t.begin);
    out += t.closes ? std::string(text) : styled_tag(text, t.name, p);
    at = t.end;
  }
  return out.append(html.substr(at));
}

std::string head_of(const brand& b, std::string_view title, std::string_view more) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"supported-color-schemes\" content=\"light dark\">\n"
         "<title>" +
         ry::escaped_html(title) +
         "</title>\n<style>:root{color-scheme:light dark;supported-color-schemes:light dark}"
         "a,p,li,td{overflow-wrap:anywhere}" +
         std::string(more) +
         "@media (max-width:480px){.ry-card{padding:24px 20px 10px!important}}"
         "@media (prefers-color-scheme:dark){" +
         dark_rules(dark_palette(b)) + "}</style>\n</head>\n";
}

std::string page_body(const brand& b, const palette& p, std::string_view preheader, std::string_view content,
                      std::string_view footer) {
  const auto font = "font-family:" + std::string(fonts);
  const std::string table =
      "<table role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\"";
  return "<body class=\"ry-page\" style=\"margin:0;padding:0;background:" + p.page +
         ";-webkit-text-size-adjust:100%\">\n" + std::string(preheader) + table +
         " class=\"ry-page\" style=\"background:" + p.page +
         "\"><tr><td align=\"center\" style=\"padding:24px 12px\">\n" + table +
         " style=\"max-width:560px;text-align:left\">\n<tr><td style=\"padding:0 4px 16px;" + font + "\">" +
         name_or_logo(b, p) +
         "</td></tr>\n<tr><td class=\"ry-card\" style=\"padding:32px 32px 18px;background:" + p.card +
         ";border:1px solid " + p.line + ";border-radius:12px;color:" + p.text + ";font-size:16px;line-height:1.55;" +
         font + "\">\n" + std::string(content) + "\n</td></tr>\n" +
         (footer.empty()
              ? std::string()
              : "<tr><td class=\"ry-foot\" style=\"padding:20px 4px 0;color:" + p.soft +
                    ";font-size:13px;line-height:1.5;" + font + "\">" + std::string(footer) + "</td></tr>\n") +
         "</table>\n</td></tr></table>\n</body>\n</html>\n";
}

std::string page(const brand& b, std::string_view title, std::string_view body) {
  const auto p = light_palette(b), dark = dark_palette(b);
  const auto secondary = [](const palette& of) {
    return "button.secondary{background:" + of.card + ";color:" + of.text + ";box-shadow:inset 0 0 0 1px " + of.soft +
           "}textarea{background:" + of.card + ";color:" + of.text + ";border-color:" + of.soft + "}";
  };
  const std::string controls =
      "button{font:inherit;font-weight:600;padding:10px 20px;border:0;border-radius:8px;cursor:pointer;background:" +
      p.button + ";color:" + p.button_text +
      "}form{margin:0 0 14px}textarea{display:block;box-sizing:border-box;width:100%;margin:4px 0 10px;padding:8px;"
      "font:inherit;border:1px solid;border-radius:8px}" +
      secondary(p) + "@media (prefers-color-scheme:dark){" + secondary(dark) + "}";
  return head_of(b, title, controls) + page_body(b, p, "", styled(body, p), "");
}

ry::response page_response(std::uint32_t status, std::string html) {
  return ry::response(status, "text/html; charset=utf-8", std::move(html))
      .header(
          "Content-Security-Policy",
          "default-src 'none'; style-src 'unsafe-inline'; img-src https:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
      .header("Referrer-Policy", "no-referrer")
      .header("X-Robots-Tag", "noindex")
      .header("Cache-Control", "no-store");
}

}  // namespace ry_brand_page
