"""Country codes in words: tasks of two datasets are named by ISO 3166 codes."""

from __future__ import annotations

_NAMES = """\
AFG Afghanistan|AGO Angola|ALB Albania|ARE United Arab Emirates|ARG Argentina|ARM Armenia
ATG Antigua and Barbuda|AUS Australia|AUT Austria|AZE Azerbaijan|BDI Burundi|BEL Belgium|BEN Benin
BFA Burkina Faso|BGD Bangladesh|BGR Bulgaria|BHR Bahrain|BHS Bahamas|BIH Bosnia and Herzegovina
BLR Belarus|BLZ Belize|BOL Bolivia|BRA Brazil|BRB Barbados|BRN Brunei|BTN Bhutan|BWA Botswana
CAF Central African Republic|CAN Canada|CHE Switzerland|CHL Chile|CHN China|CIV Côte d’Ivoire
CMR Cameroon|COD DR Congo|COG Congo|COL Colombia|COM Comoros|CPV Cabo Verde|CRI Costa Rica|CUB Cuba
CYP Cyprus|CZE Czechia|DEU Germany|DJI Djibouti|DNK Denmark|DOM Dominican Republic|DZA Algeria
ECU Ecuador|EGY Egypt|ERI Eritrea|ESP Spain|EST Estonia|ETH Ethiopia|FIN Finland|FJI Fiji|FRA France
FSM Micronesia|GAB Gabon|GBR United Kingdom|GEO Georgia|GHA Ghana|GIN Guinea|GMB Gambia
GNB Guinea-Bissau|GNQ Equatorial Guinea|GRC Greece|GRD Grenada|GTM Guatemala|GUY Guyana|HND Honduras
HRV Croatia|HTI Haiti|HUN Hungary|IDN Indonesia|IND India|IRL Ireland|IRN Iran|IRQ Iraq|ISL Iceland
ISR Israel|ITA Italy|JAM Jamaica|JOR Jordan|JPN Japan|KAZ Kazakhstan|KEN Kenya|KGZ Kyrgyzstan
KHM Cambodia|KIR Kiribati|KOR South Korea|KWT Kuwait|LAO Laos|LBN Lebanon|LBR Liberia|LBY Libya
LCA Saint Lucia|LKA Sri Lanka|LSO Lesotho|LTU Lithuania|LUX Luxembourg|LVA Latvia|MAR Morocco
MDA Moldova|MDG Madagascar|MDV Maldives|MEX Mexico|MKD North Macedonia|MLI Mali|MLT Malta
MMR Myanmar|MNE Montenegro|MNG Mongolia|MOZ Mozambique|MRT Mauritania|MUS Mauritius|MWI Malawi
MYS Malaysia|NAM Namibia|NER Niger|NGA Nigeria|NIC Nicaragua|NLD Netherlands|NOR Norway|NPL Nepal
NZL New Zealand|OMN Oman|PAK Pakistan|PAN Panama|PER Peru|PHL Philippines|PNG Papua New Guinea
POL Poland|PRI Puerto Rico|PRK North Korea|PRT Portugal|PRY Paraguay|PSE Palestine|QAT Qatar
ROU Romania|RUS Russia|RWA Rwanda|SAU Saudi Arabia|SDN Sudan|SEN Senegal|SGP Singapore
SLB Solomon Islands|SLE Sierra Leone|SLV El Salvador|SOM Somalia|SRB Serbia|SSD South Sudan
STP São Tomé and Príncipe|SUR Suriname|SVK Slovakia|SVN Slovenia|SWE Sweden|SWZ Eswatini
SYC Seychelles|SYR Syria|TCD Chad|TGO Togo|THA Thailand|TJK Tajikistan|TKM Turkmenistan
TLS Timor-Leste|TON Tonga|TTO Trinidad and Tobago|TUN Tunisia|TUR Türkiye|TWN Taiwan|TZA Tanzania
UGA Uganda|UKR Ukraine|URY Uruguay|USA United States|UZB Uzbekistan
VCT Saint Vincent and the Grenadines|VEN Venezuela|VNM Viet Nam|VUT Vanuatu|WSM Samoa|YEM Yemen
ZAF South Africa|ZMB Zambia|ZWE Zimbabwe"""

COUNTRIES = {
    entry[:3]: entry[4:] for line in _NAMES.splitlines() for entry in line.split("|") if entry
}
BY_CODE = {"inflation", "death_rate"}
"""Datasets whose tasks begin with a country's code."""


def task_name(dataset: str, task: str) -> str:
    """`HTI 2010` is "Haiti 2010 (HTI)"; a task that is no country stays as it is."""
    code, _, rest = task.partition(" ")
    if dataset not in BY_CODE or code not in COUNTRIES:
        return task
    return " ".join(filter(None, (COUNTRIES[code], rest))) + f" ({code})"
